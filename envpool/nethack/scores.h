/* Files that games leave in the folder of an environment for later games: the list of scores, from which the game also
 * takes the names of statues, and bones, the levels on which heroes have died. */
#ifndef ENVPOOL_NETHACK_SCORES_H
#define ENVPOOL_NETHACK_SCORES_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "envpool/nethack/folder.h"
#include "envpool/nethack/open.h"

/* Bytes of the longest list of scores with which a state can be saved. The game keeps three scores of a user. */
#define NH_SCORES_BYTES 4096

/* Reads the list of scores of a folder into `text` (NH_SCORES_BYTES). Returns its size, or -1: it is longer, or cannot be
 * read. */
static inline int nh_read_scores(const char *folder, char *text) {
  char path[NH_PATH_BYTES + 16];
  snprintf(path, sizeof path, "%s/record", folder);
  const int file = nh_open(path, O_RDONLY);
  if (file < 0) return -1;
  ssize_t n = 0, size = 0;
  while (size < NH_SCORES_BYTES && (n = read(file, text + size, (size_t)(NH_SCORES_BYTES - size))) != 0) {
    if (n > 0)
      size += n;
    else if (errno != EINTR)
      break;
  }
  close(file);
  return n < 0 || size == NH_SCORES_BYTES ? -1 : (int)size;
}

/* Whether a folder contains bones. */
static inline int nh_has_bones(const char *folder) {
  DIR *entries = opendir(folder);
  int found = 0;
  if (entries == NULL) return 0;
  for (const struct dirent *entry = readdir(entries); entry != NULL && !found; entry = readdir(entries))
    found = strncmp(entry->d_name, "bon", 3) == 0;
  closedir(entries);
  return found;
}

/* ---- the format: a line has the version, 9 numbers and the number of the user, 4 words of 3 letters, the name of the
 * hero, a comma and the cause of death ---- */

enum { NH_SCORE_NUMBERS = 10, NH_SCORE_DUNGEON = 1, NH_SCORE_LEVEL = 2, NH_SCORE_LINE = 256, NH_SCORE_DUNGEONS = 16 };

/* Skips a number that fits into 32 bits and a space. Returns NULL if there is none. */
static inline const char *nh_skip_number(const char *text, long *number) {
  char *end;
  if (*text != '-' && (*text < '0' || *text > '9')) return NULL;
  *number = strtol(text, &end, 10);
  return end > text && end < text + 12 && *end == ' ' && *number == (long)(int)*number ? end + 1 : NULL;
}

/* Whether a line without its end is one that the game has written: it uses some of the numbers as indices. `user` gets the
 * place of the number of the user, which is the last one. */
static inline int nh_is_score(const char *line, const char **user) {
  int bytes = 0, a, b, c;
  long number;
  if (sscanf(line, "%2d.%2d.%2d%n", &a, &b, &c, &bytes) != 3 || line[bytes] != ' ' || bytes > 8) return 0;
  line += bytes + 1;
  for (int k = 0; k < NH_SCORE_NUMBERS; k++) {
    *user = line;
    line = nh_skip_number(line, &number);
    if (line == NULL) return 0;
    if (k == NH_SCORE_DUNGEON && (number < 0 || number >= NH_SCORE_DUNGEONS)) return 0;
    if (k == NH_SCORE_LEVEL && (number < -100 || number > 100)) return 0;
  }
  for (int k = 0; k < 4; k++, line += 4)
    if (strspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") != 3 || line[3] != ' ') return 0;
  if (*line == ',' || strchr(line, ',') == NULL) return 0;
  for (; *line; line++)
    if (*line < ' ' || *line > '~') return 0;
  return 1;
}

/* Calls write(line, user, file) for each line of a list of scores; write may be NULL. Returns whether the game can read the
 * list. */
static inline int nh_each_score(const char *text, size_t size, void (*write)(const char *line, const char *user, FILE *file),
                         FILE *file) {
  char line[NH_SCORE_LINE];
  const char *user = NULL;
  while (size > 0) {
    const char *end = (const char *)memchr(text, '\n', size);
    const size_t n = end == NULL ? NH_SCORE_LINE : (size_t)(end - text);
    if (n >= NH_SCORE_LINE || memchr(text, 0, n) != NULL) return 0;
    memcpy(line, text, n);
    line[n] = 0;
    if (!nh_is_score(line, &user)) return 0;
    if (write != NULL) write(line, user, file);
    text = end + 1;
    size -= n + 1;
  }
  return 1;
}

static inline int nh_are_scores(const char *text, size_t size) { return nh_each_score(text, size, NULL, NULL); }

/* Writes a line with the number of this user: the game keeps only so many scores of each. */
static inline void nh_write_score(const char *line, const char *user, FILE *file) {
  fprintf(file, "%.*s%ld%s\n", (int)(user - line), line, (long)getuid(), strchr(user, ' '));
}

/* Replaces the list of scores of a folder. Returns 0, or a number of errno. */
static inline int nh_write_scores(const char *folder, const char *text, size_t size) {
  char path[NH_PATH_BYTES + 16];
  snprintf(path, sizeof path, "%s/record", folder);
  FILE *file = nh_fopen(path, "we");
  if (file == NULL) return errno;
  nh_each_score(text, size, nh_write_score, file);
  return fclose(file) ? errno : 0;
}

#endif /* ENVPOOL_NETHACK_SCORES_H */
