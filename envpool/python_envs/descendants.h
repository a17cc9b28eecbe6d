/* The processes that environments have started, and those which these have started: they are found in /proc, or in a
 * portable build by the program ps. */
#ifndef ENVPOOL_PYTHON_DESCENDANTS_H
#define ENVPOOL_PYTHON_DESCENDANTS_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "envpool/platform.h"

typedef struct {
  pid_t pid, parent, group;
  int is_inside; /* whether it is a descendant of the process in question */
} epy_process;

static inline int epy_runs(char state) { return state != 'Z' && state != 'X'; }

/* Returns where the next process is written, after making room for it; NULL if there is no memory. */
static inline epy_process *epy_next_process(epy_process **all, size_t *room, size_t count) {
  if (count == *room) {
    epy_process *more = (epy_process *)realloc(*all, (2 * *room + 256) * sizeof **all);
    if (more == NULL) return NULL;
    *all = more, *room = 2 * *room + 256;
  }
  return *all + count;
}

#ifdef ENVPOOL_PORTABLE

/* Returns the processes that run, in memory that the caller frees; NULL if they cannot be read. */
static inline epy_process *epy_read_processes(size_t *count) {
  size_t room = 0;
  epy_process *all = NULL, *next;
  char line[256], state;
  int pid, parent, group;
  FILE *listed = popen("exec ps -A -o pid= -o ppid= -o pgid= -o stat=", "r");
  *count = 0;
  if (listed == NULL) return NULL;
  while (fgets(line, sizeof line, listed) != NULL)
    if (sscanf(line, "%d %d %d %c", &pid, &parent, &group, &state) == 4 && epy_runs(state)) {
      if ((next = epy_next_process(&all, &room, *count)) == NULL) break;
      *next = (epy_process){pid, parent, group, 0};
      ++*count;
    }
  pclose(listed);
  return all;
}

static inline void epy_adopt_descendants(void) {} /* only Linux lets a process be the parent of orphans */

#else

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>

#include "envpool/descriptor.h"

/* Reads an entry of /proc. Returns whether it is a process that runs. */
static inline int epy_read_process(const char *name, epy_process *p) {
  char path[64], text[512];
  char state;
  int parent, group;
  if (name[0] < '0' || name[0] > '9' || snprintf(path, sizeof path, "/proc/%.20s/stat", name) < 0) return 0;
  const int file = envpool_high_descriptor(open(path, O_RDONLY | O_CLOEXEC));
  if (file < 0) return 0;
  const ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  text[size < 0 ? 0 : size] = 0;
  const char *end = strrchr(text, ')'); /* of the name, which may contain anything */
  if (end == NULL || sscanf(end + 1, " %c %d %d", &state, &parent, &group) != 3 || !epy_runs(state)) return 0;
  *p = (epy_process){(pid_t)atol(name), parent, group, 0};
  return 1;
}

/* Returns the processes that run, in memory that the caller frees; NULL if they cannot be read. */
static inline epy_process *epy_read_processes(size_t *count) {
  size_t room = 0;
  epy_process *all = NULL, *next;
  DIR *folder = opendir("/proc");
  *count = 0;
  if (folder == NULL) return NULL;
  for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    if ((next = epy_next_process(&all, &room, *count)) == NULL) break;
    *count += (size_t)epy_read_process(entry->d_name, next);
  }
  closedir(folder);
  return all;
}

/* Lets children of processes that are killed remain descendants of this one. */
static inline void epy_adopt_descendants(void) { prctl(PR_SET_CHILD_SUBREAPER, 1); }

#endif /* ENVPOOL_PORTABLE */

static inline int epy_is_inside(const epy_process *all, size_t count, pid_t parent) {
  for (size_t k = 0; k < count; k++)
    if (all[k].pid == parent) return all[k].is_inside;
  return 0;
}

/* Kills the descendants of a process that have left its process group, once. Returns their number. */
static inline int epy_kill_strays(pid_t root) {
  size_t count;
  epy_process *all = epy_read_processes(&count);
  int killed = 0, is_growing = 1;
  while (is_growing) {
    is_growing = 0;
    for (size_t k = 0; k < count; k++)
      if (!all[k].is_inside && (all[k].parent == root || epy_is_inside(all, count, all[k].parent)))
        all[k].is_inside = is_growing = 1;
  }
  for (size_t k = 0; k < count; k++)
    if (all[k].is_inside && all[k].group != root) killed += kill(all[k].pid, SIGKILL) == 0;
  free(all);
  return killed;
}

/* Ends the descendants of a process that have left its process group, which it leads; the others end with the group. The
 * process is this one, or one that is stopped. The function looks again for processes that have started meanwhile. */
static inline void epy_end_strays(pid_t root) {
  const struct timespec pause = {0, 1000000};
  if (root == getpid()) epy_adopt_descendants();
  for (int look = 0; look < 20 && epy_kill_strays(root); look++) nanosleep(&pause, NULL);
}

#endif /* ENVPOOL_PYTHON_DESCENDANTS_H */
