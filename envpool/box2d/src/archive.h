/* A byte string that is written or read by the same functions: one list of members saves and restores an object. */
#ifndef ENVPOOL_BOX2D_ARCHIVE_H
#define ENVPOOL_BOX2D_ARCHIVE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Every function copies from an object to the archive, or, while it is loading, from the archive to the object. The
 * bytes may be forged: a function that meets a value which cannot have been saved sets `is_valid` to false, and from
 * then on every function loads zeros. */
struct Archive {
  char *at;
  char *end;
  bool is_loading;
  bool is_valid;

  void require(bool condition) { is_valid = is_valid && condition; }

  void bytes(void *object, size_t size) {
    require(static_cast<size_t>(end - at) >= size);
    if (!is_valid) {
      if (is_loading) memset(object, 0, size);
      return;
    }
    if (is_loading)
      memcpy(object, at, size);
    else
      memcpy(at, object, size);
    at += size;
  }

  void flag(bool *object) {
    uint8_t byte = *object ? 1 : 0;
    bytes(&byte, 1);
    require(byte <= 1);
    if (is_loading) *object = is_valid && byte == 1;
  }

  /* An integer from `low` to `high`. */
  template <class T>
  void integer(T *object, int64_t low, int64_t high) {
    bytes(object, sizeof(T));
    require(static_cast<int64_t>(*object) >= low && static_cast<int64_t>(*object) <= high);
    if (!is_valid && is_loading) *object = static_cast<T>(low);
  }

  /* n numbers from -limit to limit. */
  template <class T>
  void numbers(T *object, size_t n = 1, double limit = 1e9) {
    bytes(object, n * sizeof(T));
    for (size_t i = 0; i < n; i++) require(fabs(static_cast<double>(object[i])) <= limit);
    if (!is_valid && is_loading) memset(object, 0, n * sizeof(T));
  }
};

#endif /* ENVPOOL_BOX2D_ARCHIVE_H */
