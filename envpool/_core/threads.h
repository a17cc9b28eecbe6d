/* Starting named, pinned worker threads, waking them, and noticing a fork: the POSIX macros that Cython cannot spell. */
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
#include <unistd.h>

#include "envpool/futex.h"

/* Binds a thread to n CPUs. A failure is ignored: the thread works on other CPUs, too. */
static inline void ep_run_on(pthread_t thread, const int32_t *cpus, int n) {
#ifdef ENVPOOL_PORTABLE
  (void)thread, (void)cpus, (void)n; /* macOS has no call for this */
#else
  int32_t last = 0;
  for (int i = 0; i < n; i++)
    if (cpus[i] > last) last = cpus[i];
  cpu_set_t *set = CPU_ALLOC(last + 1); /* a cpu_set_t has room for 1,024 CPUs only */
  if (!set) return;
  size_t size = CPU_ALLOC_SIZE(last + 1);
  CPU_ZERO_S(size, set);
  for (int i = 0; i < n; i++) CPU_SET_S(cpus[i], size, set);
  pthread_setaffinity_np(thread, size, set);
  CPU_FREE(set);
#endif
}

/* Starts `run(arg)` on a thread named envpool-<index>, pinned to CPU cpus[k % num_cpus]; with k < 0, it may run on all
 * of `cpus`, whatever the CPUs of the calling thread are. All signals are blocked there, so that Ctrl-C interrupts the
 * thread that waits in Python. Returns 0 or an errno. */
static inline int ep_thread_start(pthread_t *thread, int index, int k, const int32_t *cpus, int num_cpus,
                                  void *(*run)(void *), void *arg) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int failed = pthread_create(thread, NULL, run, arg);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (failed) return failed;
#ifdef __linux__ /* macOS lets a thread only name itself */
  char name[16];
  snprintf(name, sizeof name, "envpool-%d", index % 1000000);
  pthread_setname_np(*thread, name);
#else
  (void)index;
#endif
  if (k >= 0) ep_run_on(*thread, &cpus[k % num_cpus], 1);
  else ep_run_on(*thread, cpus, num_cpus);
  return 0;
}

/* How many forks lie between this process and the one that loaded the module: threads do not survive a fork, so a pool
 * remembers the value it was made under. */
static int64_t ep_fork_generation = 0;
static void ep_after_fork(void) { ep_fork_generation++; }
static inline void ep_watch_forks(void) { pthread_atfork(NULL, NULL, ep_after_fork); }

#endif /* ENVPOOL_THREADS_H */
