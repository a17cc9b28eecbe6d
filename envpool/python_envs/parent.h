/* Ending a worker when the process of its pool ends. */
#ifndef ENVPOOL_PYTHON_PARENT_H
#define ENVPOOL_PYTHON_PARENT_H

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "descendants.h"
#include "envpool/platform.h"

#ifdef ENVPOOL_PORTABLE
/* Returns when a process, by its number, has ended: this is checked 20 times a second. A process that is not the parent
 * of this one appears to run until it is reaped. */
static inline void epy_await_end(int pid) {
  const struct timespec pause = {0, 50000000};
  const int is_parent = getppid() == (pid_t)pid;
  while (is_parent ? getppid() == (pid_t)pid : kill((pid_t)pid, 0) == 0 || errno != ESRCH) nanosleep(&pause, NULL);
}
#else
/* Returns when a process, by its pidfd, has ended. */
static inline void epy_await_end(int pidfd) {
  struct pollfd process = {pidfd, POLLIN, 0};
  while (poll(&process, 1, -1) < 1) {
  }
}
#endif

static void *epy_await_parent(void *handle) {
  epy_await_end((int)(intptr_t)handle);
  epy_end_strays(getpid());
  kill(0, SIGKILL); /* the worker's own process group: what its envs have started ends, too */
  _exit(1);
}

/* Ends this process and its group when another process ends, by its pidfd, or in a portable build by its number. A thread
 * of C: it needs no GIL, which an env may hold forever, and unlike PR_SET_PDEATHSIG it does not depend on the thread that
 * started this process. */
static inline int epy_follow(int handle) {
  pthread_t thread;
  return pthread_create(&thread, NULL, epy_await_parent, (void *)(intptr_t)handle);
}

#endif /* ENVPOOL_PYTHON_PARENT_H */
