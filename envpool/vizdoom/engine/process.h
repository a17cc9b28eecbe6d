/* Starting and ending engine processes.
 *
 * Nothing may remain of an engine if this process is killed. Therefore the kernel kills an engine when its parent thread
 * ends (PR_SET_PDEATHSIG), and all engines are children of one thread that lives as long as the process. */
#ifndef ENVPOOL_VIZDOOM_PROCESS_H
#define ENVPOOL_VIZDOOM_PROCESS_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "envpool/descriptor.h"

extern char **environ;

namespace envpool::vizdoom {

struct Process {
  pid_t pid;      /* 0: none, or it has ended                                                             */
  pid_t owner;    /* the process that started it: after a fork, the child does not own it                 */
  int32_t status; /* of waitpid() once it has ended; -1 if it is unknown                                  */
  int output;     /* read end of a pipe with its output; -1: none                                         */
};

struct SpawnRequest {
  char *const *arguments; /* the program first, NULL last                                                 */
  const char *folder;     /* its working directory                                                        */
  int output;             /* becomes its standard output and error                                        */
  pid_t pid;              /* out; 0 until the request is done, -1 if it failed                            */
  int error;              /* out: errno                                                                   */
};

struct Spawner {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  SpawnRequest *request;
  pid_t owner; /* the process whose thread it is                                                          */
};

/* Between vfork() and execve(), which share the memory of this process: only system calls. */
inline void become_engine(const SpawnRequest *r, pid_t parent, int null) {
  sigset_t none;
  struct sigaction action = {};
  sigemptyset(&none);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(126);
  setsid(); /* Ctrl-C in a terminal is for the program, which then closes its pool */
  if (chdir(r->folder) || dup2(null, 0) < 0 || dup2(r->output, 1) < 0 || dup2(r->output, 2) < 0) _exit(126);
  /* Until setsid(), signals of the terminal came here, too. They are dropped: a handler of this process must not run. */
  for (int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP}) {
    action.sa_handler = SIG_IGN;
    sigaction(signal, &action, nullptr);
    action.sa_handler = SIG_DFL;
    sigaction(signal, &action, nullptr);
  }
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execve(r->arguments[0], r->arguments, environ);
  _exit(127);
}

inline void *run_spawner(void *argument) {
  Spawner *s = static_cast<Spawner *>(argument);
  const pid_t self = getpid();
  pthread_mutex_lock(&s->mutex);
  for (;;) {
    while (!s->request || s->request->pid) pthread_cond_wait(&s->changed, &s->mutex);
    const int null = envpool_high_descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC));
    const pid_t pid = null < 0 ? -1 : vfork();
    if (pid == 0) become_engine(s->request, self, null);
    s->request->error = errno;
    s->request->pid = pid;
    if (null >= 0) close(null);
    pthread_cond_broadcast(&s->changed);
  }
  return nullptr;
}

/* Starts the thread in this process, unless it runs. Returns an errno. */
inline int start_spawner(Spawner *s) {
  if (s->owner == getpid()) return 0;
  pthread_mutex_init(&s->mutex, nullptr); /* after a fork, they may be in any state */
  pthread_cond_init(&s->changed, nullptr);
  s->request = nullptr;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int error = pthread_create(&thread, nullptr, run_spawner, s);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error) return error;
  pthread_detach(thread);
  s->owner = getpid();
  return 0;
}

/* Held while a process is started. A child of a fork frees it: another thread of the parent may have held it. */
inline pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
inline void free_after_fork() { pthread_mutex_init(&one_at_a_time, nullptr); }

/* Starts a program. Returns 0 or an errno. */
inline int start_process(char *const *arguments, const char *folder, Process *process) {
  static Spawner spawner;
  static const int unwatched = pthread_atfork(nullptr, nullptr, free_after_fork);
  int ends[2];
  if (unwatched) return unwatched;
  if (pipe2(ends, O_CLOEXEC)) return errno;
  for (int &end : ends) end = envpool_high_descriptor(end);
  if (ends[0] < 0 || ends[1] < 0) {
    const int error = errno;
    for (const int end : ends)
      if (end >= 0) close(end);
    return error;
  }
  /* Nobody reads the pipe unless the engine fails: it must not wait when the pipe is full. */
  fcntl(ends[1], F_SETFL, O_NONBLOCK);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  SpawnRequest request = {arguments, folder, ends[1], 0, 0};
  pthread_mutex_lock(&one_at_a_time);
  int error = start_spawner(&spawner);
  if (!error) {
    pthread_mutex_lock(&spawner.mutex);
    spawner.request = &request;
    pthread_cond_broadcast(&spawner.changed);
    while (!request.pid) pthread_cond_wait(&spawner.changed, &spawner.mutex);
    spawner.request = nullptr;
    pthread_mutex_unlock(&spawner.mutex);
    error = request.pid < 0 ? request.error : 0;
  }
  pthread_mutex_unlock(&one_at_a_time);
  close(ends[1]);
  if (error) {
    close(ends[0]);
    return error;
  }
  *process = {request.pid, getpid(), -1, ends[0]};
  return 0;
}

/* Whether the process runs. Reaps it if it has ended. */
inline bool is_running(Process *p) {
  if (!p->pid) return false;
  int status = -1;
  const pid_t ended = waitpid(p->pid, &status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return true;
  p->status = ended > 0 ? status : -1; /* another waitpid() may have reaped it */
  p->pid = 0;
  return false;
}

/* Kills the process if it runs, and reaps it. In a fork of the process that started it, only forgets it. */
inline void end_process(Process *p) {
  if (p->owner == getpid() && is_running(p)) {
    kill(p->pid, SIGKILL);
    while (waitpid(p->pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (p->output >= 0) close(p->output);
  *p = {0, 0, -1, -1};
}

/* Writes the last line of what the process has printed. */
inline void last_output(const Process *p, char *text, size_t size) {
  char chunk[4096];
  size_t used = 0;
  text[0] = 0;
  for (ssize_t n; p->output >= 0 && (n = read(p->output, chunk, sizeof chunk)) > 0;)
    for (ssize_t i = 0; i < n; i++) {
      const bool is_text = chunk[i] >= ' ' && chunk[i] <= '~';
      if (chunk[i] == '\n') {
        if (used) text[used] = 0;
        used = 0;
      } else if (is_text && used + 1 < size)
        text[used++] = chunk[i];
    }
  if (used) text[used] = 0;
}

}  // namespace envpool::vizdoom

#endif  // ENVPOOL_VIZDOOM_PROCESS_H
