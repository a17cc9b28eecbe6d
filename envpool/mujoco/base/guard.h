/* Calls into MuJoCo that always return.
 *
 * MuJoCo reports through a log handler. Its default handler prints, writes MUJOCO_LOG.TXT into the working directory,
 * and ends the process after an error. Each thread may have a handler of its own. Between ep_mj_enter() and
 * ep_mj_leave() the handler of this file is set: it drops warnings, and after an error it makes ep_mj_call() return.
 *
 * MuJoCo's compiler is C++ and throws, for instance when a model does not fit into memory. Its C++ runtime is linked into
 * libmujoco, with an unwinder of its own, so no try block of another library can catch that: ep_mj_run() does.
 *
 * An error leaves the interrupted call half done. The mjData that the call worked on may only be passed to
 * mj_deleteData() afterwards.
 */
#ifndef ENVPOOL_MUJOCO_GUARD_H
#define ENVPOOL_MUJOCO_GUARD_H

#include <mujoco/mujoco.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ep_mj_frame {
  jmp_buf back;
  char *text;
  size_t size;
} ep_mj_frame;

/* The innermost ep_mj_call() of this thread. */
static __thread ep_mj_frame *ep_mj_innermost;

static inline void ep_mj_on_error(const char *text) {
  ep_mj_frame *frame = ep_mj_innermost;
  if (!frame) return;
  snprintf(frame->text, frame->size, "MuJoCo: %s", text);
  for (char *c = frame->text; *c; c++)
    if (*c == '\n') *c = ' ';
  longjmp(frame->back, 1);
}

/* The functions below are exported by libmujoco, but not declared in its headers. They are about the handlers of this
 * thread (NULL: none), which take precedence over all others. */
#if mjVERSION_HEADER >= 3010000

mjfLogHandler _mjPRIVATE_setTlsLogHandler(mjfLogHandler handler); /* returns the previous one */

typedef mjfLogHandler ep_mj_handlers;

static inline void ep_mj_on_message(const mjLogMessage *message) {
  if (message->level == mjLOG_ERROR) ep_mj_on_error(message->subject);
}

static inline ep_mj_handlers ep_mj_enter(void) { return _mjPRIVATE_setTlsLogHandler(ep_mj_on_message); }
static inline void ep_mj_leave(ep_mj_handlers before) { _mjPRIVATE_setTlsLogHandler(before); }

#else /* errors and warnings have handlers of their own */

typedef void (*ep_mj_handler)(const char *text);
ep_mj_handler _mjPRIVATE__get_tls_error_fn(void);
ep_mj_handler _mjPRIVATE__get_tls_warning_fn(void);
void _mjPRIVATE__set_tls_error_fn(ep_mj_handler handler);
void _mjPRIVATE__set_tls_warning_fn(ep_mj_handler handler);

typedef struct {
  ep_mj_handler error, warning;
} ep_mj_handlers;

static inline void ep_mj_on_warning(const char *text) { (void)text; }

static inline void ep_mj_leave(ep_mj_handlers before) {
  _mjPRIVATE__set_tls_error_fn(before.error);
  _mjPRIVATE__set_tls_warning_fn(before.warning);
}

static inline ep_mj_handlers ep_mj_enter(void) {
  const ep_mj_handlers before = {_mjPRIVATE__get_tls_error_fn(), _mjPRIVATE__get_tls_warning_fn()};
  const ep_mj_handlers ours = {ep_mj_on_error, ep_mj_on_warning};
  ep_mj_leave(ours);
  return before;
}

#endif

/* The personality of ep_mj_run(), which an unwinder asks twice about an exception that arrives there. First the function
 * says that the exception is handled. When it is asked again, the unwinder has left all frames below, with their
 * destructors, and the function jumps to the frame above: no function of the unwinder is needed. */
static inline int ep_mj_personality(int version, int actions, uint64_t kind, void *exception, void *context) {
  enum { SEARCHES = 1, IS_FORCED = 8 };   /* actions */
  enum { CONTINUES = 8, HANDLES = 6 };    /* results: continue with the frame above; the exception is handled here */
  (void)version, (void)kind, (void)exception, (void)context;
  ep_mj_frame *frame = ep_mj_innermost;
  if (!frame || actions & IS_FORCED) return CONTINUES;
  if (actions & SEARCHES) return HANDLES;
  snprintf(frame->text, frame->size, "MuJoCo: there is not enough memory, or another C++ exception was thrown");
  longjmp(frame->back, 1);
}

static int (*const ep_mj_personality_place)(int, int, uint64_t, void *, void *) __asm__("ep_mj_personality_place")
    __attribute__((used)) = ep_mj_personality;

/* Returns body(argument). 0x9b: the operand is the distance to a pointer to the personality. */
static __attribute__((noinline)) int ep_mj_run(int (*body)(void *argument), void *argument) {
  __asm__ volatile(".cfi_personality 0x9b, ep_mj_personality_place");
  const int result = body(argument);
  __asm__ volatile("" ::: "memory"); /* no tail call, which would leave no frame here */
  return result;
}

/* Returns body(argument), or -1 after an error of MuJoCo or an exception, whose text is stored in `text` (size bytes).
 * May only be called between ep_mj_enter() and ep_mj_leave(). While `body` calls MuJoCo, it must not own anything that
 * has to be freed. */
static inline int ep_mj_call(int (*body)(void *argument), void *argument, char *text, size_t size) {
  ep_mj_frame frame;
  ep_mj_frame *const outer = ep_mj_innermost;
  volatile int result = -1; /* volatile, since longjmp() may restore registers */
  frame.text = text;
  frame.size = size;
  ep_mj_innermost = &frame;
  if (!_setjmp(frame.back)) result = ep_mj_run(body, argument);
  ep_mj_innermost = outer;
  return result;
}

#ifdef __cplusplus
}
#endif
#endif /* ENVPOOL_MUJOCO_GUARD_H */
