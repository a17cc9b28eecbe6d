/* File descriptors above those of standard input, output and error.
 *
 * In a process that has closed one of its standard streams, a new descriptor gets its number, and whatever prints to the
 * stream writes into the new file. */
#ifndef ENVPOOL_DESCRIPTOR_H
#define ENVPOOL_DESCRIPTOR_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Returns a descriptor of the same open file that is 3 or more, and is closed by exec. A lower one is closed. A negative
 * one, after a call that failed, is returned with errno as it is; -1 with errno if no descriptor is left. */
static inline int envpool_high_descriptor(int file) {
  if (file < 0 || file > STDERR_FILENO) return file;
  const int high = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), error = errno;
  close(file);
  errno = error;
  return high;
}

#endif /* ENVPOOL_DESCRIPTOR_H */
