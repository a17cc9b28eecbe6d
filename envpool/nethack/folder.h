/* The folder of an environment, in which the game keeps the levels that the hero has left, and scores. */
#ifndef ENVPOOL_NETHACK_FOLDER_H
#define ENVPOOL_NETHACK_FOLDER_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "envpool/folder.h"
#include "envpool/nethack/open.h"

#define NH_PATH_BYTES 512 /* of the path of an environment's folder */

/* Makes a folder in which a game can start, with a link to the game data. Returns 0, or a number of errno. */
static inline int nh_make_folder(const char *path, const char *game_data) {
  static const char *const files[] = {"perm", "record", "logfile", "xlogfile"};
  char entry[NH_PATH_BYTES + 16];
  if (mkdir(path, 0700)) return errno;
  snprintf(entry, sizeof entry, "%s/save", path);
  if (mkdir(entry, 0700)) return errno;
  snprintf(entry, sizeof entry, "%s/nhdat", path);
  if (symlink(game_data, entry)) return errno;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    snprintf(entry, sizeof entry, "%s/%s", path, files[i]);
    const int file = nh_open(entry, O_CREAT | O_WRONLY, 0600);
    if (file < 0) return errno;
    close(file);
  }
  return 0;
}

/* The folder of this process, which contains the folders of its environments. It is removed when the process exits, after
 * Python has closed all pools. A process that was forked off leaves it alone. */
static char nh_process_folder[NH_PATH_BYTES - 32]; /* room for the number of an environment */
static pid_t nh_folder_owner;

static inline void nh_remove_process_folder(void) {
  if (nh_folder_owner == getpid()) envpool_remove_folder(nh_process_folder);
}

static inline void nh_set_process_folder(const char *path) {
  if (nh_folder_owner == 0) atexit(nh_remove_process_folder);
  snprintf(nh_process_folder, sizeof nh_process_folder, "%s", path);
  nh_folder_owner = getpid();
}

#endif /* ENVPOOL_NETHACK_FOLDER_H */
