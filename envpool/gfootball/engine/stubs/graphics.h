// The graphics system. Objects of a scene have no observers, so that they are moved but not drawn.
#pragma once

#include "defines.hpp"
#include "managers/resourcemanager.hpp"
#include "scene/iscene.hpp"
#include "sdl.h"

namespace blunted {

class Scene2D;
class Scene3D;

struct Texture {};
struct VertexBuffer {};

struct GraphicsTask {
  void Render(bool) {}
};

class GraphicsSystem {
 public:
  void SetContext() {}
  void DisableContext() {}
  void Exit() {}
  const screenshoot& GetScreen() { return screen; }
  GraphicsTask* GetTask() { return &task; }
  Vector3 GetContextSize() { return Vector3(1280, 720, 32); }

 private:
  screenshoot screen;
  GraphicsTask task;
};

}  // namespace blunted
