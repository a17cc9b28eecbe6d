// The parts of the menu that matches need. Nothing is drawn, so pages, captions and the radar do nothing.
#pragma once

#include <string>
#include <vector>

#include "defines.hpp"
#include "sdl.h"

class Match;
class MatchData;

class Gui2View {
 public:
  void Show() {}
  void Hide() {}
  void Exit() {}
  void GetSize(float& width, float& height) { width = height = 0; }
  void SetPosition(float, float) {}
};

class Gui2WindowManager;

class Gui2Caption : public Gui2View {
 public:
  Gui2Caption(Gui2WindowManager*, const std::string&, float, float, float, float, const std::string&) {}
  void SetColor(const blunted::Vector3&) {}
  void SetOutlineColor(const blunted::Vector3&) {}
  void SetTransparency(float) {}
  void SetCaption(const std::string&) {}
  float GetTextWidthPercent() { return 0; }
};

class Gui2Radar : public Gui2View {
 public:
  template <class... Args>
  Gui2Radar(Gui2WindowManager*, Args&&...) {}
  void Put() {}
};

class Gui2ScoreBoard : public Gui2View {
 public:
  Gui2ScoreBoard(Gui2WindowManager*, Match*) {}
  void SetTimeStr(const std::string&) {}
  void SetGoalCount(int, int) {}
};

class Gui2Root {
 public:
  void AddView(Gui2View*) {}
  void SetRecursiveZPriority(int) {}
};

struct Gui2PagePath {
  void Clear() {}
};

enum e_PageID { e_PageID_Game, e_PageID_LoadingMatch };

struct PageFactory {
  void CreatePage(int, void*) {}
};

class Gui2WindowManager {
 public:
  Gui2Root* GetRoot() { return &root; }
  Gui2PagePath* GetPagePath() { return &pages; }
  PageFactory* GetPageFactory() { return &factory; }
  float GetAspectRatio() const { return 5.0f / 4.0f; }

 private:
  Gui2Root root;
  Gui2PagePath pages;
  PageFactory factory;
};

struct SideSelection {
  int controllerID = 0;
  int side = 0;  // -1: left, 0: no team, 1: right
};

class MenuTask {
 public:
  explicit MenuTask(int controllers) {
    for (int i = 0; i < controllers; i++) sides.push_back({i, -1});
  }
  const std::vector<SideSelection>& GetControllerSetup() { return sides; }
  void SetControllerSetup(const std::vector<SideSelection>& setup) { sides = setup; }
  int GetTeamKitNum(int) { return 2; }
  MatchData* GetMatchData() { return match_data; }
  void SetMatchData(MatchData* data) { match_data = data; }
  Gui2WindowManager* GetWindowManager() { return &windows; }

 private:
  std::vector<SideSelection> sides;
  MatchData* match_data = nullptr;
  Gui2WindowManager windows;
};
