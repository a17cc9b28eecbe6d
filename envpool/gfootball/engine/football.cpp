// The C interface of football.h, and what replaces upstream's main.cpp, log.cpp and file.cpp.
#include "football.h"

#include <locale.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <string_view>
#include <unordered_map>

#include "files.h"
#include "game_env.hpp"
#include "main.hpp"
#include "onthepitch/player/controller/elizacontroller.hpp"
#include "scene/scene2d/scene2d.hpp"
#include "scene/scene3d/scene3d.hpp"

// Upstream's files, which the build puts here one after the other: the length of the name and that of the contents, of
// 4 bytes each, the name, the contents.
extern "C" const char football_files[], football_files_end[];

struct football_data {
  std::atomic<int> users{1};
  std::map<std::string_view, std::string_view> files;  // sorted by name

  // Loaded once, under the mutex, and constant afterwards.
  std::mutex mutex;
  boost::shared_ptr<AnimCollection> animations;
  std::unordered_map<Animation*, std::vector<Vector3>> positions;
};

struct football_game : GameEnv {
  football_data* data = nullptr;
  football_scenario scenario{};
  bool ready = false;  // an episode has been started, and no call has failed since
};

namespace {

thread_local std::string last_error;
__thread GameEnv* current __attribute__((tls_model("initial-exec"))) = nullptr;
Tracker tracker;

constexpr char STATE_MAGIC[8] = {'F', 'O', 'O', 'T', 'S', 'T', 'A', '1'};

struct BadData : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct BadState : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Two independent sums over words of 8 bytes.
struct Hash {
  uint64_t a = 0x9e3779b97f4a7c15u, b = 0xc2b2ae3d27d4eb4fu;

  void add(const void* data, size_t size) {
    const char* bytes = static_cast<const char*>(data);
    for (size_t i = 0; i < size; i += 8) {
      uint64_t word = 0;
      memcpy(&word, bytes + i, std::min<size_t>(8, size - i));
      a = (a ^ word) * 0x100000001b3u;
      a ^= a >> 29;
      b = (b + word) * 0x9fb21c651e98df25u;
      b ^= b >> 32;
    }
    a ^= size;
    b += size;
  }
};

// Sets the game and the locale of this thread during a call: upstream's parsers and printers depend on the latter.
class Call {
 public:
  explicit Call(GameEnv* game) : game_before(current), locale_before(uselocale(plain())) { current = game; }
  ~Call() {
    current = game_before;
    uselocale(locale_before);
  }
  Call(const Call&) = delete;

 private:
  static locale_t plain() {
    static const locale_t c = newlocale(LC_ALL_MASK, "C", nullptr);
    return c;
  }
  GameEnv* game_before;
  locale_t locale_before;
};

int failed(int code, const char* text) {
  try {
    last_error = text;
  } catch (...) {
    last_error.clear();
  }
  return code;
}

// Runs a function in a game. Whatever it throws becomes an error code.
template <class F>
int guarded(GameEnv* game, F function) noexcept {
  try {
    Call call(game);
    return function();
  } catch (const BadData& error) {
    return failed(FOOTBALL_NO_DATA, error.what());
  } catch (const BadState& error) {
    return failed(FOOTBALL_BAD_STATE, error.what());
  } catch (const std::bad_alloc&) {
    return failed(FOOTBALL_NO_MEMORY, "out of memory");
  } catch (const std::exception& error) {
    return failed(FOOTBALL_BROKEN, error.what());
  } catch (...) {
    return failed(FOOTBALL_BROKEN, "unknown exception");
  }
}

void release(football_data* data) {
  if (data && --data->users == 0) delete data;
}

// Deletes what a game has made. Upstream never does this.
void take_down(football_game& game) {
  GameContext* context = game.context;
  if (!context) return;
  context->gameTask.reset();  // ends the match
  context->menuTask.reset();
  for (auto* node : {&context->fullbodyNode, &context->goalsNode}) {
    if (*node) (*node)->Exit();
    node->reset();
  }
  if (context->scene2D) context->scene2D->Exit();
  if (context->scene3D) context->scene3D->Exit();
  context->scene2D.reset();
  context->scene3D.reset();
  for (auto* controller : context->controllers) delete controller;
  delete context->config;
  delete context;
  game.context = nullptr;
}

bool in_range(float value, float low, float high) { return value >= low && value <= high; }

int refuse(const char* name, const char* rule) {
  return failed(FOOTBALL_BAD_ARGUMENT, (std::string(name) + " must be " + rule).c_str());
}

void set_config(ScenarioConfig& config, const football_scenario& scenario) {
  config.ball_position.coords[0] = scenario.ball_x;
  config.ball_position.coords[1] = scenario.ball_y;
  for (int team = 0; team < 2; team++) {
    auto& entries = team == 0 ? config.left_team : config.right_team;
    entries.clear();
    for (int i = 0; i < scenario.sizes[team]; i++) {
      const football_entry& e = scenario.teams[team][i];
      entries.emplace_back(e.x, e.y, e_PlayerRole(e.role), e.lazy != 0, e.controllable != 0);
    }
  }
  config.left_agents = scenario.agents[0];
  config.right_agents = scenario.agents[1];
  config.use_magnet = scenario.use_magnet;
  config.offsides = scenario.offsides;
  config.game_engine_random_seed = scenario.seed;
  config.reverse_team_processing = scenario.reverse_team_processing;
  config.left_team_difficulty = scenario.difficulty[0];
  config.right_team_difficulty = scenario.difficulty[1];
  config.deterministic = scenario.deterministic;
  config.end_episode_on_score = scenario.end_episode_on_score;
  config.end_episode_on_possession_change = scenario.end_episode_on_possession_change;
  config.end_episode_on_out_of_play = scenario.end_episode_on_out_of_play;
  config.game_duration = scenario.game_duration;
  config.second_half = scenario.second_half;
  config.control_all_players = scenario.control_all_players;
}

void start(football_game& game, const football_scenario& scenario) {
  game.ready = false;
  if (!game.context) game.start_game();
  game.game_config.physics_steps_per_frame = scenario.physics_steps_per_frame;
  auto config = ScenarioConfig::make();
  set_config(*config, scenario);
  game.state = game_running;
  game.reset(*config, false);
  game.scenario = scenario;
  game.ready = true;
}

// Coordinates are next to the pitch; all games except forged states fulfil this.
void require_numbers(const float* numbers, int count) {
  for (int i = 0; i < count; i++) {
    if (!in_range(numbers[i], -1e4f, 1e4f)) football::fail("the game has left the range of its numbers");
  }
}

int not_ready() { return failed(FOOTBALL_BROKEN, "the game must be reset first"); }

struct StateHeader {
  char magic[8];
  uint64_t hash_a, hash_b;  // of everything behind them
  uint64_t size;            // of the whole state
  uint64_t extra_size;
  football_scenario scenario;
};

void hash_state(const char* state, size_t size, StateHeader& header) {
  Hash hash;
  constexpr size_t skipped = offsetof(StateHeader, size);
  hash.add(state + skipped, size - skipped);
  header.hash_a = hash.a;
  header.hash_b = hash.b;
}

void restore(football_game& game, const std::string& state) {
  game.ready = false;
  game.set_state(state);
  game.ready = true;
}

}  // namespace

// ----- what upstream's code calls

namespace football {

void fail(const char* what) { throw Failure(what); }

void load_animations() {
  GameContext& context = GetContext();
  if (context.anims) return;
  football_data* data = static_cast<football_game*>(current)->data;
  const std::lock_guard<std::mutex> lock(data->mutex);
  if (!data->animations) {
    boost::shared_ptr<AnimCollection> loaded(new AnimCollection());
    loaded->Load();
    data->positions.clear();
    for (Animation* animation : loaded->GetAnimations()) {
      std::vector<Vector3>& positions = data->positions[animation];
      Quaternion orientation;
      Vector3 position;
      for (int frame = 0; frame < animation->GetFrameCount(); frame++) {
        animation->GetKeyFrame(player, frame, orientation, position);
        position.coords[2] = 0.0f;
        positions.push_back(position);
      }
      // Animations compute their properties when they are asked for the first time, which must not be in a game.
      animation->DirtyCache();
      animation->GetTranslation();
      animation->GetIncomingMovement();
      animation->GetIncomingVelocity();
      animation->GetOutgoingMovement();
      animation->GetOutgoingVelocity();
      animation->GetOutgoingAngle();
      animation->GetOutgoingDirection();
      animation->GetIncomingBodyAngle();
      animation->GetIncomingBodyDirection();
      animation->GetOutgoingBodyAngle();
      animation->GetOutgoingBodyDirection();
    }
    data->animations = loaded;
  }
  context.anims = data->animations;
  context.order.resize(data->animations->GetAnimations().size());
}

const std::vector<Vector3>& positions_of(Animation* animation) {
  return static_cast<football_game*>(current)->data->positions.find(animation)->second;
}

// An agent and the player whom it controls know each other, and both are of the same team.
void check_match(Match& match) {
  for (int id = 0; id < 2; id++) {
    Team* team = match.GetTeam(id);
    std::vector<HumanGamer*> gamers;
    team->GetHumanControllers(gamers);
    for (HumanGamer* gamer : gamers) {
      Player* player = gamer->GetSelectedPlayer();
      assert(!player || (player->GetTeam() == team && player->ExternalController() == gamer->GetHumanController()));
    }
    for (Player* player : team->GetAllPlayers()) {
      HumanController* controller = player->ExternalController();
      const auto controls = [&](HumanGamer* gamer) { return gamer->GetHumanController() == controller; };
      const auto gamer = std::find_if(gamers.begin(), gamers.end(), controls);
      assert(!controller || (gamer != gamers.end() && (*gamer)->GetSelectedPlayer() == player && player->IsActive()));
      assert(!controller || controller->GetPlayer() == player);
      assert(player->CastController()->GetPlayer() == player);
    }
    assert(team->GetActivePlayersCount() > 0);
  }
}

}  // namespace football

namespace blunted {

void Log(e_LogType type, std::string, std::string, std::string message) {
  if (type == e_FatalError) football::fail(message.c_str());
}

}  // namespace blunted

void DoValidation(int, const char*) {}

GameEnv* GetGame() { return current; }
void SetGame(GameEnv* game) { current = game; }
Tracker* GetTracker() { return &tracker; }
GameContext& GetContext() { return *current->context; }
boost::shared_ptr<Scene2D> GetScene2D() { return current->context->scene2D; }
boost::shared_ptr<Scene3D> GetScene3D() { return current->context->scene3D; }
GraphicsSystem* GetGraphicsSystem() { return &current->context->graphicsSystem; }
boost::shared_ptr<GameTask> GetGameTask() { return current->context->gameTask; }
boost::shared_ptr<MenuTask> GetMenuTask() { return current->context->menuTask; }
Properties* GetConfiguration() { return current->context->config; }
ScenarioConfig& GetScenarioConfig() { return current->scenario_config; }
GameConfig& GetGameConfig() { return current->game_config; }
const std::vector<AIControlledKeyboard*>& GetControllers() { return current->context->controllers; }

void randomize(unsigned int seed) { randomseed(seed); }

void run_game(Properties* config, bool) {
  GameContext& context = GetContext();
  context.config = config;
  context.geometry_manager.RegisterLoader("ase", &context.aseLoader);
  for (const char* extension : {"jpg", "png", "bmp"}) {
    context.surface_manager.RegisterLoader(extension, &context.imageLoader);
  }
  randomize(0);
  context.scene2D.reset(new Scene2D(1280, 720));
  context.scene3D.reset(new Scene3D());
  for (int i = 0; i < 2 * MAX_PLAYERS; i++) {
    context.controllers.push_back(new AIControlledKeyboard(e_PlayerColor(i % (e_PlayerColor_Default + 1))));
  }
  context.gameTask.reset(new GameTask());
  context.menuTask.reset(new MenuTask(2 * MAX_PLAYERS));
}

static void process_scenario(ScenarioConfig& config, EnvState& state) {
  config.ProcessStateConstant(&state);
  config.ProcessState(&state);
}

void GameContext::ProcessState(EnvState* state) {
  for (size_t i = 0; i < sizeof(rng); i++) state->process(reinterpret_cast<char*>(&rng)[i]);
  ScenarioConfig& config = current->scenario_config;
  EnvState before(current, ""), after(current, "");
  if (state->Load()) process_scenario(config, before);
  try {
    process_scenario(config, *state);
    if (state->Load()) process_scenario(config, after);
    if (before.GetState() != after.GetState()) football::fail("the saved state is of another scenario");
  } catch (...) {
    EnvState back(current, before.GetState());
    process_scenario(config, back);
    throw;
  }
  state->process(step);
  assert(step >= -1);
}

std::string GetFile(const std::string& name) {
  const auto& files = static_cast<football_game*>(current)->data->files;
  const auto found = files.find(std::string_view(name).substr(name[0] == '/'));
  if (found == files.end()) throw BadData("the data lacks the file " + name);
  return std::string(found->second);
}

void GetFiles(std::string folder, const std::string& extension, std::vector<std::string>& names) {
  const std::string prefix = folder + "/", suffix = "." + extension;
  for (const auto& [name, contents] : static_cast<football_game*>(current)->data->files) {
    if (name.size() > suffix.size() && name.substr(0, prefix.size()) == prefix &&
        name.substr(name.size() - suffix.size()) == suffix) {
      names.push_back("/" + std::string(name));
    }
  }
}

// ----- the interface

const char* football_error(void) { return last_error.c_str(); }

football_data* football_open_data(void) {
  football_data* data = nullptr;
  guarded(nullptr, [&] {
    std::unique_ptr<football_data> made(new football_data);
    std::string_view rest(football_files, football_files_end - football_files);
    while (!rest.empty()) {
      uint32_t lengths[2];
      memcpy(lengths, rest.data(), 8);
      rest.remove_prefix(8);
      made->files[rest.substr(0, lengths[0])] = rest.substr(lengths[0], lengths[1]);
      rest.remove_prefix(lengths[0] + lengths[1]);
    }
    data = made.release();
    return FOOTBALL_OK;
  });
  return data;
}

void football_close_data(football_data* data) { release(data); }

void football_default_scenario(football_scenario* scenario) {
  memset(scenario, 0, sizeof *scenario);
  scenario->agents[0] = 1;
  scenario->difficulty[0] = 1.0f;
  scenario->difficulty[1] = 0.6f;
  scenario->seed = 42;
  scenario->game_duration = 3000;
  scenario->second_half = 999999999;
  scenario->physics_steps_per_frame = 10;
  scenario->use_magnet = 1;
  scenario->offsides = 1;
}

int football_check_scenario(const football_scenario* s) {
  return guarded(nullptr, [&]() -> int {
    for (int team = 0; team < 2; team++) {
      if (s->sizes[team] < 1 || s->sizes[team] > FOOTBALL_TEAM) return refuse("sizes", "1 to 11");
      if (s->agents[team] < 0 || s->agents[team] > s->sizes[team]) return refuse("agents", "0 to the size of the team");
      if (!in_range(s->difficulty[team], 0, 1)) return refuse("difficulty", "0 to 1");
      for (int i = 0; i < s->sizes[team]; i++) {
        const football_entry& e = s->teams[team][i];
        if (!in_range(e.x, -2, 2) || !in_range(e.y, -2, 2)) return refuse("x and y of players", "-2 to 2");
        if (e.role < 0 || e.role >= FOOTBALL_ROLES) return refuse("role", "0 to 9");
        if (e.lazy > 1 || e.controllable > 1) return refuse("lazy and controllable", "0 or 1");
      }
    }
    if (!in_range(s->ball_x, -2, 2) || !in_range(s->ball_y, -2, 2)) return refuse("ball_x and ball_y", "-2 to 2");
    if (s->game_duration < 1) return refuse("game_duration", "at least 1");
    if (s->second_half < 0) return refuse("second_half", "at least 0");
    if (s->physics_steps_per_frame < 1 || s->physics_steps_per_frame > 1000) {
      return refuse("physics_steps_per_frame", "1 to 1000");
    }
    for (const uint8_t* flag = &s->use_magnet; flag <= &s->control_all_players; flag++) {
      if (*flag > 1) return refuse("flags", "0 or 1");
    }
    return FOOTBALL_OK;
  });
}

football_game* football_new(football_data* data) {
  football_game* game = nullptr;
  guarded(nullptr, [&] {
    game = new football_game;
    game->data = data;
    data->users++;
    return FOOTBALL_OK;
  });
  return game;
}

void football_free(football_game* game) {
  if (!game) return;
  guarded(game, [&] {
    take_down(*game);
    return FOOTBALL_OK;
  });
  release(game->data);
  delete game;
}

int football_reset(football_game* game, const football_scenario* scenario) {
  const int checked = football_check_scenario(scenario);
  if (checked != FOOTBALL_OK) return checked;
  return guarded(game, [&] {
    start(*game, *scenario);
    return FOOTBALL_OK;
  });
}

int football_act(football_game* game, int team, int index, int action) {
  if (!game->ready) return not_ready();
  return guarded(game, [&]() -> int {
    if (team < 0 || team > 1) return refuse("team", "0 or 1");
    if (index < 0 || index >= game->scenario.agents[team]) return refuse("index", "below the number of agents");
    if (action < 0 || action >= FOOTBALL_ACTIONS) return refuse("action", "0 to 32");
    game->action(action, team == 0, index);
    return FOOTBALL_OK;
  });
}

int football_step(football_game* game) {
  if (!game->ready) return not_ready();
  const int code = guarded(game, [&] {
    game->step();
    return FOOTBALL_OK;
  });
  game->ready = code == FOOTBALL_OK;
  return code;
}

int football_read(football_game* game, football_info* info) {
  if (!game->ready) return not_ready();
  return guarded(game, [&] {
    const SharedInfo read = game->get_info();
    for (int i = 0; i < 3; i++) {
      info->ball[i] = read.ball_position.env_coord(i);
      info->ball_direction[i] = read.ball_direction.env_coord(i);
      info->ball_rotation[i] = read.ball_rotation.env_coord(i);
    }
    info->ball_owned_team = read.ball_owned_team;
    info->ball_owned_player = read.ball_owned_player;
    info->goals[0] = read.left_goals;
    info->goals[1] = read.right_goals;
    for (int goals : info->goals) assert(goals >= 0 && goals < 1000000);
    info->game_mode = read.game_mode;
    info->step = read.step;
    info->waiting_for_game_count = game->waiting_for_game_count;
    info->is_in_play = read.is_in_play;
    require_numbers(info->ball, 9);  // with its direction and its rotation
    for (int team = 0; team < 2; team++) {
      const auto& players = team == 0 ? read.left_team : read.right_team;
      const auto& controllers = team == 0 ? read.left_controllers : read.right_controllers;
      info->sizes[team] = std::min<int>(players.size(), FOOTBALL_TEAM);
      for (int i = 0; i < FOOTBALL_TEAM; i++) {
        football_player& p = info->teams[team][i];
        memset(&p, 0, sizeof p);
        if (i < info->sizes[team]) {
          const PlayerInfo& from = players[i];
          for (int k = 0; k < 2; k++) {
            p.position[k] = from.player_position.env_coord(k);
            p.direction[k] = from.player_direction.env_coord(k);
          }
          p.tired_factor = from.tired_factor;
          require_numbers(p.position, 5);  // with its direction and tired_factor
          p.role = from.role;
          p.active = from.is_active;
          p.yellow_card = from.has_card;
          p.designated = from.designated_player;
        }
        const bool is_agent = i < game->scenario.agents[team];
        info->controlled[team][i] = is_agent ? controllers.at(i).controlled_player : -1;
        for (int k = 0; k < FOOTBALL_STICKY; k++) {
          static const int after_directions[] = {
              FOOTBALL_SPRINT, FOOTBALL_DRIBBLE, FOOTBALL_KEEPER_RUSH, FOOTBALL_PRESSURE, FOOTBALL_TEAM_PRESSURE};
          const int action = k < 8 ? FOOTBALL_LEFT + k : after_directions[k - 8];
          info->sticky[team][i][k] = is_agent && game->sticky_action_state(action, team == 0, i);
        }
      }
    }
    return FOOTBALL_OK;
  });
}

void football_set_waiting(football_game* game, int32_t count) { game->waiting_for_game_count = count; }

int football_get_scenario(football_game* game, football_scenario* scenario) {
  if (!game->ready) return not_ready();
  *scenario = game->scenario;
  return FOOTBALL_OK;
}

int football_save(football_game* game, const void* extra, size_t extra_size, void* buffer, size_t* size) {
  if (!game->ready) return not_ready();
  return guarded(game, [&]() -> int {
    const std::string state = game->get_state("");
    const size_t capacity = *size;
    *size = sizeof(StateHeader) + extra_size + state.size();
    if (!buffer || capacity < *size) return refuse("size", "the size of the state");
    char* bytes = static_cast<char*>(buffer);
    StateHeader header;
    memset(&header, 0, sizeof header);
    memcpy(header.magic, STATE_MAGIC, 8);
    header.size = *size;
    header.extra_size = extra_size;
    header.scenario = game->scenario;
    memcpy(bytes, &header, sizeof header);
    if (extra_size) memcpy(bytes + sizeof header, extra, extra_size);
    memcpy(bytes + sizeof header + extra_size, state.data(), state.size());
    hash_state(bytes, *size, header);
    memcpy(bytes, &header, sizeof header);
    return FOOTBALL_OK;
  });
}

int football_load(football_game* game, const void* buffer, size_t size, void* extra, size_t extra_size) {
  return guarded(game, [&]() -> int {
    const char* bytes = static_cast<const char*>(buffer);
    StateHeader header, computed;
    if (size < sizeof header) throw BadState("the state is too short");
    memcpy(&header, bytes, sizeof header);
    if (memcmp(header.magic, STATE_MAGIC, 8) != 0) throw BadState("these bytes are not a state of a football game");
    if (header.size != size || header.extra_size != extra_size || size - sizeof header < extra_size) {
      throw BadState("the state has another size");
    }
    hash_state(bytes, size, computed);
    if (header.hash_a != computed.hash_a || header.hash_b != computed.hash_b) throw BadState("the state is damaged");
    if (football_check_scenario(&header.scenario) != FOOTBALL_OK) throw BadState(last_error);
    const std::string state(bytes + sizeof header + extra_size, size - sizeof header - extra_size);
    const bool was_ready = game->ready;
    const football_scenario scenario_before = game->scenario;
    const std::string before = was_ready ? game->get_state("") : "";
    std::string valid = before;  // of the scenario that the game has when the state is restored
    try {
      if (!was_ready || memcmp(&header.scenario, &game->scenario, sizeof header.scenario) != 0) {
        valid.clear();
        start(*game, header.scenario);
        valid = game->get_state("");
      }
      restore(*game, state);
    } catch (const std::exception& error) {
      const std::string text = error.what();
      // A part of the state is in the game. Nothing may run with it, not even the end of the match.
      if (!valid.empty()) game->set_state(valid);
      if (was_ready) {
        start(*game, scenario_before);
        restore(*game, before);
      }
      throw BadState(text);
    }
    if (extra_size) memcpy(extra, bytes + sizeof header, extra_size);
    return FOOTBALL_OK;
  });
}
