/* The message queues between this process and an engine: boost::interprocess::message_queue of Boost 1.66 in POSIX shared
 * memory, as the vizdoom package links it. A queue is created here and opened by the engine.
 *
 * Unlike Boost's, no call waits without end: an engine that was killed may have died while it held the lock, which is
 * therefore a robust one. */
#ifndef ENVPOOL_VIZDOOM_QUEUE_H
#define ENVPOOL_VIZDOOM_QUEUE_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "envpool/descriptor.h"

namespace envpool::vizdoom {

enum : uint8_t {
  kEngineDone = 11, /* from the engine: the last request is done                                        */
  kEngineClose = 12,
  kEngineError = 13, /* `text` says what is wrong                                                       */
  kTic = 21,         /* to the engine: simulate a tic                                                   */
  kUpdate = 22,      /* draw the buffers and write the variables                                        */
  kTicAndUpdate = 23,
  kCommand = 24, /* run the console command in `text`; not answered                                     */
  kClose = 25,
};

enum { kMaxText = 128, kMaxMessages = 64 };

struct Message {
  uint8_t code;
  char text[kMaxText];
};

/* One entry: Boost's header and the message. */
struct Slot {
  uint64_t size;
  uint32_t priority;
  uint32_t unused;
  Message message;
};

/* The mapped file. Boost's offset pointers hold the distance from their own address. */
struct Queue {
  uint32_t is_initialized; /* 2: yes                                                                     */
  uint32_t unused[3];
  int64_t slots;         /* offset pointer to `slot`                                                     */
  uint64_t max_messages; /* kMaxMessages                                                                 */
  uint64_t max_size;     /* sizeof(Message)                                                              */
  uint64_t count;        /* messages in the queue                                                        */
  pthread_mutex_t mutex;
  pthread_cond_t not_empty;
  pthread_cond_t not_full;
  uint64_t newest; /* index into `slot` of the newest message; the oldest is at newest + count - 1, modulo   */
  uint64_t blocked_senders;
  uint64_t blocked_receivers;
  int64_t slot[kMaxMessages]; /* offset pointers to entries                                              */
  char entries[kMaxMessages][152];
};

static_assert(sizeof(Slot) - 7 == 145 && sizeof(Slot) <= 152, "an entry has Boost's size");
#if defined(__x86_64__)
static_assert(sizeof(Queue) == 10448, "a queue has the size of the package's queues");
#endif

inline timespec deadline_after(double seconds) {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t); /* the clock of Boost's conditions */
  const int64_t ns = t.tv_nsec + static_cast<int64_t>(seconds * 1e9);
  t.tv_sec += ns / 1000000000;
  t.tv_nsec = ns % 1000000000;
  return t;
}

/* Creates the queue `name`, which must not exist. Returns NULL and sets errno if that is impossible. */
inline Queue *create_queue(const char *name) {
  const int file = envpool_high_descriptor(shm_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file < 0) return nullptr;
  /* posix_fallocate() rather than ftruncate(): if the memory is used up, it fails instead of a later write. */
  const int error = posix_fallocate(file, 0, sizeof(Queue));
  void *memory = error ? MAP_FAILED : mmap(nullptr, sizeof(Queue), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const int problem = error ? error : errno;
  close(file);
  if (memory == MAP_FAILED) {
    shm_unlink(name);
    errno = problem;
    return nullptr;
  }
  Queue *q = static_cast<Queue *>(memory);
  q->slots = reinterpret_cast<char *>(q->slot) - reinterpret_cast<char *>(&q->slots);
  q->max_messages = kMaxMessages;
  q->max_size = sizeof(Message);
  for (int i = 0; i < kMaxMessages; i++) q->slot[i] = q->entries[i] - reinterpret_cast<char *>(&q->slot[i]);
  pthread_mutexattr_t mutex;
  pthread_mutexattr_init(&mutex);
  pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&mutex, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&q->mutex, &mutex);
  pthread_mutexattr_destroy(&mutex);
  pthread_condattr_t condition;
  pthread_condattr_init(&condition);
  pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
  pthread_cond_init(&q->not_empty, &condition);
  pthread_cond_init(&q->not_full, &condition);
  pthread_condattr_destroy(&condition);
  __atomic_store_n(&q->is_initialized, 2, __ATOMIC_RELEASE);
  return q;
}

inline void unmap_queue(Queue *q) {
  if (q) munmap(q, sizeof(Queue));
}

inline Slot *slot_at(Queue *q, uint64_t index) {
  int64_t *offset = &q->slot[index % kMaxMessages];
  return reinterpret_cast<Slot *>(reinterpret_cast<char *>(offset) + *offset);
}

/* Takes over the lock of an engine that has died, as `error` says: what it was writing is dropped. Returns the error of
 * a caller that has not got the lock. */
inline int inherit_lock(Queue *q, int error) {
  if (error != EOWNERDEAD) return error;
  pthread_mutex_consistent(&q->mutex);
  q->count = 0;
  return 0;
}

/* Appends a message. Returns 0, ETIMEDOUT if the lock was not free for `seconds`, or EAGAIN if the queue is full, which
 * does not happen while the engine answers. */
inline int send_message(Queue *q, uint8_t code, const char *text, double seconds) {
  const timespec deadline = deadline_after(seconds);
  const int error = inherit_lock(q, pthread_mutex_timedlock(&q->mutex, &deadline));
  if (error) return error;
  if (q->count >= kMaxMessages) {
    pthread_mutex_unlock(&q->mutex);
    return EAGAIN;
  }
  q->newest = (q->newest + kMaxMessages - 1) % kMaxMessages;
  q->count++;
  Slot *slot = slot_at(q, q->newest);
  slot->size = sizeof(Message);
  slot->priority = 0;
  slot->message.code = code;
  memset(slot->message.text, 0, kMaxText);
  if (text) memcpy(slot->message.text, text, strnlen(text, kMaxText - 1));
  const bool is_awaited = q->blocked_receivers > 0;
  pthread_mutex_unlock(&q->mutex);
  if (is_awaited) pthread_cond_signal(&q->not_empty);
  return 0;
}

/* Takes the oldest message. Returns 0, or ETIMEDOUT if there was none for `seconds`. */
inline int receive_message(Queue *q, Message *message, double seconds) {
  const timespec deadline = deadline_after(seconds);
  int error = inherit_lock(q, pthread_mutex_timedlock(&q->mutex, &deadline));
  if (error) return error;
  q->blocked_receivers++;
  while (q->count == 0 && !error)
    error = inherit_lock(q, pthread_cond_timedwait(&q->not_empty, &q->mutex, &deadline));
  q->blocked_receivers--;
  if (q->count > 0) {
    *message = slot_at(q, q->newest + q->count - 1)->message;
    q->count--;
    error = 0;
  }
  const bool is_blocked = q->blocked_senders > 0;
  pthread_mutex_unlock(&q->mutex);
  if (is_blocked) pthread_cond_signal(&q->not_full);
  return error;
}

}  // namespace envpool::vizdoom

#endif  // ENVPOOL_VIZDOOM_QUEUE_H
