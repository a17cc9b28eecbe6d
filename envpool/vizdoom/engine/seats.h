/* One game of several players, each with an engine. The first engine hosts the game, and the others join it.
 *
 * The engines exchange the buttons of each tic through UDP on the loopback interface, and none of them finishes a tic
 * before it has those of all others. When a guest looks for packets, it compares its number of tics with that of the host,
 * and may make its next tic early or late: whether the host's packet is there must not depend on luck. Therefore a tic is
 * requested from the host first, and from the next engine only after the one before has sent its packet. An engine that
 * waits for others reads its queue after it has sent; that an empty command is taken shows when it does.
 *
 * Which guest gets which number depends on luck, too. As all guests are started alike, they are sorted by their numbers.
 * While the engines look for each other, they may wait for packets that were sent before they listened, and are not sent
 * again; then all of them are started once more. */
#ifndef ENVPOOL_VIZDOOM_SEATS_H
#define ENVPOOL_VIZDOOM_SEATS_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>

#include <utility>

#include "engine.h"

namespace envpool::vizdoom {

enum { kMostStarts = 5 };

/* Seconds that the engines of a game may take to find each other before they are started once more, where they have twice
 * the time. They take less than two seconds each. */
inline constexpr double kStartPatience = 4;

/* Ends all engines of a game because engine `failed` has; the first one gets its text. Returns false. */
inline bool fail_seats(Engine **e, int32_t n, int32_t failed) {
  if (failed) memcpy(e[0]->text, e[failed]->text, kTextSize);
  for (int32_t p = 0; p < n; p++) {
    end_process(&e[p]->process);
    unlink_all(e[p]);
  }
  return false;
}

/* Whether all engines of a game run. If one has ended, the game has failed. */
inline bool are_running(Engine **e, int32_t n) {
  Message answer;
  for (int32_t p = 0; p < n; p++) {
    if (is_running(&e[p]->process)) continue;
    if (!e[p]->answers || receive_message(e[p]->answers, &answer, 0) || is_done(e[p], &answer)) fail_ended(e[p]);
    return fail_seats(e, n, p);
  }
  return true;
}

inline bool send_seat(Engine **e, int32_t n, int32_t p, uint8_t code, const char *text = nullptr) {
  return send(e[p], code, text) || fail_seats(e, n, p);
}

/* Waits for an engine of a game, and notices the end of others that this one waits for. */
inline bool await_seat(Engine **e, int32_t n, int32_t p, double patience) {
  Message answer;
  for (double waited = 0; receive_message(e[p]->answers, &answer, kGlance); waited += kGlance) {
    if (!are_running(e, n)) return false;
    if (waited >= patience) {
      fail(e[p], "the ViZDoom engine of player %d did not answer for %g seconds", p, patience);
      return fail_seats(e, n, p);
    }
  }
  return is_done(e[p], &answer) || fail_seats(e, n, p);
}

/* Waits until an engine has taken all requests. */
inline bool drain_seat(Engine **e, int32_t n, int32_t p, double patience) {
  const timespec pause = {0, 20000};
  const timespec deadline = deadline_after(patience);
  for (int64_t tries = 1; __atomic_load_n(&e[p]->requests->count, __ATOMIC_ACQUIRE) > 0; tries++) {
    nanosleep(&pause, nullptr);
    if (tries % 1000) continue;
    if (!are_running(e, n)) return false;
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (now.tv_sec > deadline.tv_sec) {
      fail(e[p], "the ViZDoom engine of player %d did not read its queue for %g seconds", p, patience);
      return fail_seats(e, n, p);
    }
  }
  return true;
}

/* Requests a tic from all engines of a game; await_seats() waits for it. */
inline bool request_tic(Engine **e, int32_t n, uint8_t code, double patience) {
  for (int32_t p = 0; p < n; p++) {
    e[p]->last_tic = state_of(e[p])->map_tic + 1;
    if (!send_seat(e, n, p, code)) return false;
    if (p + 1 < n && !(send_seat(e, n, p, kCommand, "") && drain_seat(e, n, p, patience))) return false;
  }
  return true;
}

inline bool await_seats(Engine **e, int32_t n, double patience) {
  for (int32_t p = 0; p < n; p++)
    if (!await_seat(e, n, p, patience)) return false;
  return true;
}

/* Draws what all players see. */
inline bool update_seats(Engine **e, int32_t n, double patience) {
  for (int32_t p = 0; p < n; p++)
    if (!send_seat(e, n, p, kUpdate)) return false;
  return await_seats(e, n, patience);
}

inline bool tic_seats(Engine **e, int32_t n, const Launch *l) {
  return request_tic(e, n, kTic, l->patience) && await_seats(e, n, l->patience);
}

inline bool run_seats_to_start(Engine **e, int32_t n, const Launch *l) {
  for (uint32_t i = 0; state_of(e[0])->map_tic < l->start_tic; i++) {
    if (i > 2 * l->start_tic + 1000) {
      fail(e[0], "the map %s does not start", l->map);
      return fail_seats(e, n, 0);
    }
    if (!tic_seats(e, n, l)) return false;
  }
  return true;
}

/* Returns a port that no socket of UDP has, or 0. */
inline int free_port() {
  sockaddr_in address = {};
  socklen_t size = sizeof address;
  address.sin_family = AF_INET;
  const int file = envpool_high_descriptor(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (file < 0) return 0;
  sockaddr *any = reinterpret_cast<sockaddr *>(&address);
  const bool found = !bind(file, any, size) && !getsockname(file, any, &size);
  close(file);
  return found ? ntohs(address.sin_port) : 0;
}

/* The begin_start() of a game of n players. */
inline bool begin_seats(Engine **e, int32_t n, const Launch *l, uint32_t seed) {
  char count[16], port[16], host[32];
  const int number = free_port();
  snprintf(count, sizeof count, "%d", n);
  snprintf(port, sizeof port, "%d", number);
  snprintf(host, sizeof host, "127.0.0.1:%d", number);
  const auto word = [](const char *text) { return const_cast<char *>(text); };
  char *hosts[] = {word("-host"), count, word("-port"), port, word("+viz_sync_timeout"), word("3600000"), nullptr};
  char *joins[] = {word("-join"), host, word("+viz_sync_timeout"), word("3600000"), nullptr};
  for (int32_t p = 0; p < n; p++) stop_engine(e[p]);
  if (!number) return fail(e[0], "no port for the players of a ViZDoom game: %s", strerror(errno));
  for (int32_t p = 0; p < n; p++)
    if (!begin_start(e[p], l, seed, p ? joins : hosts)) return fail_seats(e, n, p);
  return true;
}

/* Waits until all engines know each other and have begun the map. Sets *is_late if they may never. */
inline bool meet(Engine **e, int32_t n, double patience, bool *is_late) {
  Message answer;
  *is_late = false;
  for (int32_t p = 0; p < n; p++) {
    for (double waited = 0; receive_message(e[p]->answers, &answer, kGlance); waited += kGlance) {
      if (!are_running(e, n)) return false;
      if (waited >= patience) {
        *is_late = true;
        fail(e[p], "the ViZDoom engines of %d players did not find each other", n);
        return fail_seats(e, n, p);
      }
    }
    if (!is_done(e[p], &answer)) return fail_seats(e, n, p);
  }
  return true;
}

/* The finish_start() of a game of n players. */
inline bool finish_seats(Engine **e, int32_t n, const Launch *l, uint32_t seed, const bool *available) {
  bool is_late = true;
  double patience = kStartPatience;
  if (!e[0]->process.pid) return false;
  for (int32_t starts = 1; !meet(e, n, patience, &is_late); starts++, patience *= 2)
    if (!is_late || starts >= kMostStarts || !begin_seats(e, n, l, seed)) return false;
  for (int32_t p = 0; p < n; p++) {
    if (!map_memory(e[p], l)) return fail_seats(e, n, p);
    unlink_all(e[p]);
  }
  for (int32_t p = 0; p < n; p++)
    for (int32_t k = p + 1; k < n; k++)
      if (state_of(e[k])->player_number < state_of(e[p])->player_number) std::swap(*e[p], *e[k]);
  if (!run_seats_to_start(e, n, l) || !update_seats(e, n, l->patience)) return false;
  for (int32_t p = 0; p < n; p++) {
    Input *input = input_of(e[p]);
    memset(input, 0, sizeof *input);
    memcpy(input->is_available, available, sizeof input->is_available);
    e[p]->last_tic = state_of(e[p])->map_tic;
  }
  return true;
}

/* The restart_map() of a game of n players. */
inline bool restart_seats(Engine **e, int32_t n, const Launch *l, uint32_t seed) {
  enum { kUse = 1 };
  char command[kMaxText], start[kMaxText];
  const bool use = input_of(e[0])->is_available[kUse];
  snprintf(command, sizeof command, "rngseed set %u", seed);
  snprintf(start, sizeof start, "changemap %s", l->map);
  for (int32_t p = 0; p < n; p++) {
    Input *input = input_of(e[p]);
    memset(input->button, 0, sizeof input->button);
    input->is_available[kUse] = true;
    if (!send_seat(e, n, p, kCommand, command)) return false;
    if (state_of(e[p])->is_settings_controller && !send_seat(e, n, p, kCommand, start)) return false;
    if (!send_seat(e, n, p, kCommand, "-use")) return false;
  }
  bool has_begun = false;
  for (int tics = 1; !has_begun; tics++) {
    if (tics > 1000) {
      fail(e[0], "the map %s does not start", l->map);
      return fail_seats(e, n, 0);
    }
    uint32_t last_tic[kPlayers];
    for (int32_t p = 0; p < n; p++) {
      last_tic[p] = e[p]->last_tic;
      if (!send_seat(e, n, p, kCommand, tics % 2 ? "+use" : "-use")) return false;
    }
    if (!tic_seats(e, n, l)) return false;
    has_begun = true;
    for (int32_t p = 0; p < n; p++) {
      e[p]->last_tic = last_tic[p];
      has_begun = has_begun && !state_of(e[p])->is_map_over && state_of(e[p])->map_tic <= last_tic[p];
    }
  }
  for (int32_t p = 0; p < n; p++) {
    if (!send_seat(e, n, p, kCommand, "-use")) return false;
    input_of(e[p])->is_available[kUse] = use;
  }
  if (!run_seats_to_start(e, n, l)) return false;
  for (int32_t p = 0; p < n; p++)
    if (!send_seat(e, n, p, kCommand, "viz_override_player 0")) return false;
  if (!update_seats(e, n, l->patience)) return false;
  for (int32_t p = 0; p < n; p++) e[p]->last_tic = state_of(e[p])->map_tic;
  return true;
}

}  // namespace envpool::vizdoom

#endif  // ENVPOOL_VIZDOOM_SEATS_H
