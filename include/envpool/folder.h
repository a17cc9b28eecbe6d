/* Folders that environments make for the programs or the libraries that simulate them. */
#ifndef ENVPOOL_FOLDER_H
#define ENVPOOL_FOLDER_H

#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline int envpool_remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk) {
  (void)status, (void)kind, (void)walk;
  remove(path);
  return 0;
}

/* Removes a folder with all that is in it, if it exists. Symbolic links are removed, and not followed. */
static inline void envpool_remove_folder(const char *path) {
  nftw(path, envpool_remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

#ifdef __cplusplus
}
#endif
#endif /* ENVPOOL_FOLDER_H */
