/* Starting named, pinned worker threads, and noticing a fork: the POSIX macros that Cython cannot spell. */
#ifndef ENVPOOL_THREADS_H
#define ENVPOOL_THREADS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>

/* CPUs this process may run on. */
static inline int ep_available_cpus(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return CPU_COUNT(&set);
}

/* The k-th CPU (modulo their number) this process may run on. */
static inline int ep_kth_cpu(int k) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 0;
  int left = k % CPU_COUNT(&set);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &set) && left-- == 0) return cpu;
  return 0;
}

/* Starts `run(arg)` on a thread named envpool-<index>, pinned to the k-th available CPU (k < 0: not pinned). All signals
 * are blocked there, so that Ctrl-C interrupts the thread that waits in Python. Returns 0 or an errno. */
static inline int ep_thread_start(pthread_t *thread, int index, int k, void *(*run)(void *), void *arg) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int failed = pthread_create(thread, NULL, run, arg);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (failed) return failed;
  char name[16];
  snprintf(name, sizeof name, "envpool-%d", index % 1000000);
  pthread_setname_np(*thread, name);
  if (k >= 0) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(ep_kth_cpu(k), &one);
    pthread_setaffinity_np(*thread, sizeof one, &one);
  }
  return 0;
}

/* How many forks lie between this process and the one that loaded the module: threads do not survive a fork, so a pool
 * remembers the value it was made under. */
static int64_t ep_fork_generation = 0;
static void ep_after_fork(void) { ep_fork_generation++; }
static inline void ep_watch_forks(void) { pthread_atfork(NULL, NULL, ep_after_fork); }

#endif /* ENVPOOL_THREADS_H */
