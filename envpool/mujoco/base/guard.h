/* Calls into MuJoCo that return whatever happens.
 *
 * MuJoCo reports through a log handler: by default it prints, writes MUJOCO_LOG.TXT into the working directory and, for
 * an error, ends the process. A handler may be set for one thread. Between ep_mj_enter() and ep_mj_leave() ours is set:
 * it drops warnings and lets ep_mj_call() return where an error came up.
 *
 * An error leaves the call half done: of the mjData that it worked on, nothing but mj_deleteData() may be called then.
 */
#ifndef ENVPOOL_MUJOCO_GUARD_H
#define ENVPOOL_MUJOCO_GUARD_H

#include <mujoco/mujoco.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Exported by libmujoco, not declared in its headers: sets this thread's handler, NULL for none, and returns the one
 * before. It goes before all other handlers. */
mjfLogHandler _mjPRIVATE_setTlsLogHandler(mjfLogHandler handler);

typedef struct ep_mj_frame {
  jmp_buf back;
  char *text;
  size_t size;
} ep_mj_frame;

/* The innermost call of this thread. */
static __thread ep_mj_frame *ep_mj_innermost;

static inline void ep_mj_on_message(const mjLogMessage *message) {
  ep_mj_frame *frame = ep_mj_innermost;
  if (message->level != mjLOG_ERROR || !frame) return;
  snprintf(frame->text, frame->size, "MuJoCo: %s", message->subject);
  for (char *c = frame->text; *c; c++)
    if (*c == '\n') *c = ' ';
  longjmp(frame->back, 1);
}

static inline mjfLogHandler ep_mj_enter(void) { return _mjPRIVATE_setTlsLogHandler(ep_mj_on_message); }
static inline void ep_mj_leave(mjfLogHandler before) { _mjPRIVATE_setTlsLogHandler(before); }

/* Returns body(argument), or -1 after an error of MuJoCo, whose text is then in text (size). Between ep_mj_enter() and
 * ep_mj_leave() only; `body` may hold nothing that has to be freed while it calls MuJoCo. */
static inline int ep_mj_call(int (*body)(void *argument), void *argument, char *text, size_t size) {
  ep_mj_frame frame;
  ep_mj_frame *const outer = ep_mj_innermost;
  volatile int result = -1; /* longjmp() may undo what a register holds */
  frame.text = text;
  frame.size = size;
  ep_mj_innermost = &frame;
  if (!_setjmp(frame.back)) result = body(argument);
  ep_mj_innermost = outer;
  return result;
}

#ifdef __cplusplus
}
#endif
#endif /* ENVPOOL_MUJOCO_GUARD_H */
