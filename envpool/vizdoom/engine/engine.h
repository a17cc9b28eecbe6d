/* One engine: a process of the vizdoom package, the queues and the memory that it shares with this process.
 *
 * As soon as the engine has opened its queues, their names are unlinked, like its memory and its folder. From then on, none
 * of them can be left behind, however either process ends. Until then, this process holds a lock on the queue of requests,
 * so that the names of a process that was killed can be recognised: they are without a lock, and leftovers.py removes
 * them. Therefore this queue is the first of the names that is made, and the last one that is unlinked. */
#ifndef ENVPOOL_VIZDOOM_ENGINE_H
#define ENVPOOL_VIZDOOM_ENGINE_H

#include <stdarg.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "envpool/folder.h"
#include "memory.h"
#include "process.h"
#include "queue.h"

namespace envpool::vizdoom {

enum { kMaxArguments = 512, kTextSize = 512 };

/* Settings that all engines of a pool share. */
struct Launch {
  char **arguments;        /* of the program (num_arguments), the program first                           */
  int32_t num_arguments;   /* at most kMaxArguments - 11                                                  */
  const char *folder;      /* where engines get an empty working directory                                */
  const char *map;         /* that an episode starts with                                                 */
  uint32_t start_tic;      /* tic of the map at which an episode starts                                   */
  uint32_t screen_size[2]; /* width, height                                                               */
  uint64_t needed[kRegions]; /* bytes that each region must have, at least                                */
  double patience;         /* seconds that an answer may take                                             */
};

struct Engine {
  Queue *requests;
  int lock; /* file descriptor of a lock on `requests` while it has a name; -1: none                      */
  Queue *answers;
  char *memory; /* (memory_size), NULL if it is not mapped                                                */
  size_t memory_size;
  uint64_t offset[kRegions]; /* of the regions in the memory                                              */
  Process process;
  char id[40];
  char folder[256];
  uint32_t last_tic;     /* tic of the map that was requested last                                        */
  char text[kTextSize];  /* why the last call failed, in English                                          */
};

inline const GameState *state_of(const Engine *e) { return reinterpret_cast<const GameState *>(e->memory); }
inline const uint8_t *region_of(const Engine *e, int32_t region) {
  return reinterpret_cast<const uint8_t *>(e->memory) + e->offset[region];
}
inline Input *input_of(Engine *e) { return reinterpret_cast<Input *>(e->memory + e->offset[kInputRegion]); }

inline void name_of(const Engine *e, const char *kind, char name[64]) { snprintf(name, 64, "/ViZDoom%s%s", kind, e->id); }

/* Removes the names that are left of queues, memory and folder. */
inline void unlink_all(Engine *e) {
  char name[64];
  if (e->folder[0]) envpool_remove_folder(e->folder);
  for (const char *kind : {"SM", "MQCtr", "MQDoom"}) {
    name_of(e, kind, name);
    if (e->id[0]) shm_unlink(name);
  }
  if (e->lock >= 0) close(e->lock);
  e->lock = -1;
  e->id[0] = e->folder[0] = 0;
}

inline void unmap_memory(Engine *e) {
  if (e->memory) munmap(e->memory, e->memory_size);
  e->memory = nullptr;
}

/* Ends the engine, and forgets it. The text stays. */
inline void stop_engine(Engine *e) {
  end_process(&e->process);
  unlink_all(e);
  unmap_queue(e->requests);
  unmap_queue(e->answers);
  unmap_memory(e);
  e->requests = e->answers = nullptr;
}

/* Sets the text, ends the engine, whose buffers stay mapped for rendering, and returns false. */
__attribute__((format(printf, 2, 3))) inline bool fail(Engine *e, const char *format, ...) {
  va_list values;
  va_start(values, format);
  vsnprintf(e->text, sizeof e->text, format, values);
  va_end(values);
  end_process(&e->process);
  unlink_all(e);
  return false;
}

inline bool is_alive(const Engine *e) { return e->process.pid != 0 && e->memory != nullptr; }

/* Says how a process has ended. */
inline bool fail_ended(Engine *e) {
  const int32_t status = e->process.status;
  char output[256];
  last_output(&e->process, output, sizeof output);
  const char *colon = output[0] ? ": " : "";
  if (status >= 0 && WIFSIGNALED(status))
    return fail(e, "the ViZDoom engine was killed by signal %d (%s)%s%s", WTERMSIG(status), strsignal(WTERMSIG(status)),
                colon, output);
  if (status >= 0 && WEXITSTATUS(status) == 127)
    return fail(e, "the ViZDoom engine could not be executed%s%s", colon, output);
  return fail(e, "the ViZDoom engine exited with status %d%s%s", status >= 0 ? WEXITSTATUS(status) : -1, colon, output);
}

/* How long a wait takes no notice of an engine that has been killed, in seconds. */
inline constexpr double kGlance = 0.05;

/* How long an engine may hold the lock of a queue, in seconds: it only copies a message meanwhile. */
inline constexpr double kLockPatience = 60;

inline bool send(Engine *e, uint8_t code, const char *text = nullptr) {
  for (double waited = kGlance;; waited += kGlance) {
    const int error = send_message(e->requests, code, text, kGlance);
    if (!error) return true;
    if (!is_running(&e->process)) return fail_ended(e);
    if (error != ETIMEDOUT) return fail(e, "the message queue of the ViZDoom engine is broken: %s", strerror(error));
    if (waited >= kLockPatience) return fail(e, "the ViZDoom engine kept its queue locked for %g seconds", kLockPatience);
  }
}

/* Whether an answer says that the engine has done what was asked for last. */
inline bool is_done(Engine *e, Message *answer) {
  if (answer->code == kEngineDone) return true;
  answer->text[kMaxText - 1] = 0;
  if (answer->code == kEngineError) return fail(e, "the ViZDoom engine reports an error: %s", answer->text);
  return fail(e, "the ViZDoom engine closed itself (message %d)", answer->code);
}

/* Waits until the engine has done what was asked for last. */
inline bool await(Engine *e, double patience) {
  Message message;
  for (double waited = 0;; waited += kGlance) {
    const bool ended = waited > 0 && !is_running(&e->process);
    if (!receive_message(e->answers, &message, kGlance)) break;
    if (ended) return fail_ended(e);
    if (waited >= patience) return fail(e, "the ViZDoom engine did not answer for %g seconds", patience);
  }
  return is_done(e, &message);
}

inline bool ask(Engine *e, const Launch *l, uint8_t code) { return send(e, code) && await(e, l->patience); }

/* Whether no further tic of the episode can be simulated. */
inline bool is_time_up(const Engine *e) {
  const GameState *s = state_of(e);
  return s->map_tic_limit > 0 && s->map_tic_limit <= s->map_tic;
}
inline bool is_game_over(const Engine *e) {
  const GameState *s = state_of(e);
  return (!s->is_multiplayer && s->is_dead) || s->is_map_over;
}

inline bool run_to_start(Engine *e, const Launch *l) {
  for (uint32_t i = 0; state_of(e)->map_tic < l->start_tic; i++) {
    if (i > 2 * l->start_tic + 1000) return fail(e, "the map %s does not start", l->map);
    if (!ask(e, l, kTic)) return false;
  }
  return true;
}

/* fstat(), for which glibc before 2.33 has no symbol. */
inline int status_of(int file, struct statx *found) {
  return statx(file, "", AT_EMPTY_PATH, STATX_NLINK | STATX_SIZE, found);
}

/* Draws an id, and creates and locks the queue of requests. Returns 0 or an errno: EAGAIN if another process has
 * mistaken the queue, before it was locked, for a leftover of a process that was killed. */
inline int create_requests(Engine *e) {
  char name[64];
  struct statx found;
  uint64_t random;
  if (getrandom(&random, sizeof random, 0) != sizeof random) return errno;
  snprintf(e->id, sizeof e->id, "%d_%016llx", static_cast<int>(getpid()), static_cast<unsigned long long>(random));
  name_of(e, "MQDoom", name);
  e->requests = create_queue(name);
  if (!e->requests) return errno;
  e->lock = envpool_high_descriptor(shm_open(name, O_RDWR | O_CLOEXEC, 0));
  if (e->lock < 0) return errno == ENOENT ? EAGAIN : errno;
  if (flock(e->lock, LOCK_EX | LOCK_NB) || status_of(e->lock, &found)) return errno; /* EAGAIN if another process has it */
  return found.stx_nlink > 0 ? 0 : EAGAIN;
}

/* Creates the queues and starts the process. Another engine may be started before finish_start(). `more` are further
 * arguments, with NULL at the end. */
inline bool begin_start(Engine *e, const Launch *l, uint32_t seed, char *const *more = nullptr) {
  char name[64], number[16];
  char *arguments[kMaxArguments];
  int problem = EAGAIN;
  for (int tries = 0; problem == EAGAIN && tries < 20; tries++) {
    stop_engine(e);
    problem = create_requests(e);
  }
  if (!problem) {
    name_of(e, "MQCtr", name);
    e->answers = create_queue(name);
    if (!e->answers) problem = errno;
  }
  if (problem) return fail(e, "no shared memory in /dev/shm for the ViZDoom engine: %s", strerror(problem));
  snprintf(e->folder, sizeof e->folder, "%s/envpool-vizdoom-%s", l->folder, e->id);
  if (mkdir(e->folder, 0700)) {
    e->folder[0] = 0;
    return fail(e, "no folder in %s for the ViZDoom engine: %s", l->folder, strerror(errno));
  }
  snprintf(number, sizeof number, "%u", seed);
  memcpy(arguments, l->arguments, sizeof(char *) * l->num_arguments);
  char **next = arguments + l->num_arguments;
  for (; more && *more; more++) *next++ = *more;
  char *last[] = {const_cast<char *>("+viz_instance_id"), e->id, const_cast<char *>("-rngseed"), number, nullptr};
  memcpy(next, last, sizeof last);
  const int error = start_process(arguments, e->folder, &e->process);
  return !error || fail(e, "the ViZDoom engine could not be started: %s", strerror(error));
}

/* Maps the memory of an engine, and makes sure that the pages exist which are read here. */
inline bool map_memory(Engine *e, const Launch *l) {
  char name[64];
  struct statx found;
  name_of(e, "SM", name);
  const int file = envpool_high_descriptor(shm_open(name, O_RDWR | O_CLOEXEC, 0));
  if (file < 0 || status_of(file, &found)) {
    if (file >= 0) close(file);
    return fail(e, "the memory of the ViZDoom engine could not be opened: %s", strerror(errno));
  }
  const size_t size = static_cast<size_t>(found.stx_size);
  void *memory = MAP_FAILED;
  int error = size < kStateSize + sizeof(Input) ? EINVAL : posix_fallocate(file, 0, sizeof(GameState));
  if (!error) error = posix_fallocate(file, kCountersOffset, static_cast<off_t>(size) - kCountersOffset);
  if (!error) memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (!error && memory == MAP_FAILED) error = errno;
  close(file);
  if (error) return fail(e, "no shared memory in /dev/shm for the ViZDoom engine: %s", strerror(error));
  e->memory = static_cast<char *>(memory);
  e->memory_size = size;
  const GameState *s = state_of(e);
  bool fits = s->version == kVersion && s->size == size && s->region_size[kStateRegion] == kStateSize &&
              s->region_size[kInputRegion] == sizeof(Input) && s->screen_width == l->screen_size[0] &&
              s->screen_height == l->screen_size[1];
  for (int r = 0; r < kRegions; r++) {
    e->offset[r] = s->region_offset[r];
    fits = fits && s->region_size[r] >= l->needed[r] && e->offset[r] <= size && l->needed[r] <= size - e->offset[r];
  }
  if (fits) return true;
  fail(e, "the ViZDoom engine has version %u and a screen of %u x %u; needed are 132 and %u x %u", s->version,
       s->screen_width, s->screen_height, l->screen_size[0], l->screen_size[1]);
  unmap_memory(e); /* nobody may look for the buffers where they should be */
  return false;
}

/* Waits until the first episode has begun. `available` (kButtons) are the buttons that may be pressed. */
inline bool finish_start(Engine *e, const Launch *l, const bool *available) {
  if (!e->process.pid || !await(e, l->patience) || !map_memory(e, l)) return false;
  unlink_all(e);
  if (!run_to_start(e, l) || !ask(e, l, kUpdate)) return false;
  Input *input = input_of(e);
  memset(input, 0, sizeof *input);
  memcpy(input->is_available, available, sizeof input->is_available);
  e->last_tic = state_of(e)->map_tic;
  return true;
}

/* Begins another episode, recorded to the file `recording` unless it is "". */
inline bool restart_map(Engine *e, const Launch *l, uint32_t seed, const char *recording) {
  enum { kUse = 1 };
  char command[kMaxText], start[kMaxText];
  const GameState *s = state_of(e);
  Input *input = input_of(e);
  if (s->is_recording && !send(e, kCommand, "stop")) return false;
  snprintf(command, sizeof command, s->is_multiplayer ? "rngseed set %u" : "viz_set_seed %u", seed);
  if (!send(e, kCommand, command)) return false;
  if (recording[0] && !s->is_multiplayer)
    snprintf(start, sizeof start, "recordmap \"%s\" %s", recording, l->map);
  else
    snprintf(start, sizeof start, "%s %s", s->is_multiplayer ? "changemap" : "map", l->map);
  if ((!s->is_multiplayer || s->is_settings_controller) && !send(e, kCommand, start)) return false;
  memset(input->button, 0, sizeof input->button);
  const bool use = input->is_available[kUse];
  if (s->is_multiplayer) {
    input->is_available[kUse] = true;
    if (!send(e, kCommand, "-use")) return false;
  }
  for (int tries = 0, tics = 1; tries == 0 || s->is_map_over || s->map_tic > e->last_tic; tries++, tics++) {
    if (tries > 1000) return fail(e, "the map %s does not start", l->map);
    if (s->is_multiplayer && !send(e, kCommand, tics % 2 ? "+use" : "-use")) return false;
    if (!ask(e, l, kTic)) return false;
    if (tics > 3 && !s->is_multiplayer) {
      if (!send(e, kCommand, start)) return false;
      tics = 0;
    }
  }
  if (s->is_multiplayer) {
    if (!send(e, kCommand, "-use")) return false;
    input->is_available[kUse] = use;
  }
  if (!run_to_start(e, l) || !send(e, kCommand, "viz_override_player 0") || !ask(e, l, kUpdate)) return false;
  e->last_tic = s->map_tic;
  return true;
}

/* Ends the recording of an episode, so that its file is complete. */
inline void finish_recording(Engine *e, const Launch *l) {
  if (is_alive(e) && e->process.owner == getpid() && state_of(e)->is_recording && send(e, kCommand, "stop"))
    ask(e, l, kTic);
}

}  // namespace envpool::vizdoom

#endif  // ENVPOOL_VIZDOOM_ENGINE_H
