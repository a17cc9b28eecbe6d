// Included before every other line of the engine: the parts of Boost that it uses, and the places where it would print,
// write files, or end the process. The generators return the same numbers as Boost's.
#pragma once

#include <math.h>  // functions for all precisions, without std::, as in upstream's files
#include <stdlib.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <vector>

namespace football {

// An inconsistency that upstream ends the process for. It leaves the engine through football.cpp only.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn, gnu::cold, gnu::noinline]] void fail(const char* what);

}  // namespace football

namespace blunted {
class Animation;
class Quaternion;
class Vector3;
class radian;
}  // namespace blunted

class Match;

namespace football {

// Checks bytes of a saved state that become a T. No float of a game is large; integers are checked where they are indices,
// and may overflow. enumerators() is next to each enumeration.
template <class T>
void check_loaded(const char* bytes) {
  constexpr bool angle = std::is_same<T, blunted::radian>::value;  // a float and a bool
  constexpr bool vector = std::is_same<T, blunted::Vector3>::value || std::is_same<T, blunted::Quaternion>::value;
  bool good = true;
  if constexpr (std::is_same<T, float>::value || angle || vector) {
    for (size_t i = 0; i < (vector ? sizeof(T) / sizeof(float) : 1); i++) {
      float value;
      memcpy(&value, bytes + i * sizeof value, sizeof value);
      good = good && std::fabs(value) < 1e6f;
    }
    if constexpr (angle) good = good && static_cast<unsigned char>(bytes[sizeof(float)]) <= 1;
  } else if constexpr (std::is_same<T, bool>::value) {
    good = static_cast<unsigned char>(*bytes) <= 1;
  } else if constexpr (std::is_enum<T>::value) {
    int value;
    static_assert(sizeof(T) == sizeof value, "an enumeration of a saved state is an int");
    memcpy(&value, bytes, sizeof value);
    good = value >= 0 && value < enumerators(T());
  } else {
    static_assert(std::is_integral<T>::value, "values of this type are not checked");
  }
  if (!good) fail("a value of the saved state is out of range");
}

// Checks a frame of an animation, or -1 for none.
inline void check_frame(int frame) {
  if (frame < -1 || frame > 100000) fail("a frame of an animation in the saved state is out of range");
}

// Angles are brought into a range by single turns, which would not change a large number.
inline void check_angle(float angle) {
  if (!(std::fabs(angle) < 1e6f)) fail("an angle is out of range");
}

// A pointer that upstream takes for granted, but that is null in some games.
template <class T>
T* there(T* object) {
  if (!object) fail("a player or a team is missing");
  return object;
}

// Checks what a saved state says about the players and those who control them.
void check_match(Match& match);

// Gives the current game the animations that all games share, and loads them first if it is the first game.
void load_animations();

// The positions of the body in all frames of an animation.
const std::vector<blunted::Vector3>& positions_of(blunted::Animation* animation);

inline void check_count(int count, size_t left) {
  if (count < 0 || static_cast<size_t>(count) > left || count > 20000) {
    fail("a length in the saved state is out of range");
  }
}

}  // namespace football

// Assertions are upstream's checks of values that its code uses as indices, so they stay on.
#undef assert
#define assert(condition) ((condition) ? (void)0 : football::fail(#condition))

#define printf(...) ((void)0)
#define fprintf(...) ((void)0)
#define exit(status) football::fail("exit")

namespace boost {

using std::shared_ptr;
using std::static_pointer_cast;
using std::weak_ptr;

template <class F, class... Args>
auto bind(F&& function, Args&&... args) {
  return std::bind(std::forward<F>(function), std::forward<Args>(args)...);
}

// The count of references is in the object.
template <class T>
class intrusive_ptr {
 public:
  intrusive_ptr() = default;
  intrusive_ptr(T* object) : object(object) {
    if (object) intrusive_ptr_add_ref(object);
  }
  intrusive_ptr(const intrusive_ptr& other) : intrusive_ptr(other.object) {}
  intrusive_ptr(intrusive_ptr&& other) noexcept : object(other.object) { other.object = nullptr; }
  template <class U>
  intrusive_ptr(const intrusive_ptr<U>& other) : intrusive_ptr(other.get()) {}
  ~intrusive_ptr() {
    if (object) intrusive_ptr_release(object);
  }
  intrusive_ptr& operator=(intrusive_ptr other) noexcept {
    std::swap(object, other.object);
    return *this;
  }
  void reset() { *this = intrusive_ptr(); }
  T* get() const { return object; }
  T& operator*() const { return *object; }
  T* operator->() const { return object; }
  explicit operator bool() const { return object != nullptr; }

 private:
  T* object = nullptr;
};

template <class T, class U>
bool operator==(const intrusive_ptr<T>& a, const intrusive_ptr<U>& b) {
  return a.get() == b.get();
}
template <class T, class U>
bool operator!=(const intrusive_ptr<T>& a, const intrusive_ptr<U>& b) {
  return a.get() != b.get();
}
template <class T, class U>
intrusive_ptr<T> static_pointer_cast(const intrusive_ptr<U>& other) {
  return static_cast<T*>(other.get());
}

// The 32-bit Mersenne Twister.
class mt19937 {
 public:
  static constexpr uint32_t SIZE = 624;

  mt19937() { seed(5489); }

  void seed(uint32_t value) {
    words[0] = value;
    for (uint32_t i = 1; i < SIZE; i++) words[i] = 1812433253u * (words[i - 1] ^ (words[i - 1] >> 30)) + i;
    next = SIZE;
  }

  uint32_t operator()() {
    if (next >= SIZE) twist();  // a forged state may have any number
    uint32_t word = words[next++];
    word ^= word >> 11;
    word ^= (word << 7) & 0x9d2c5680u;
    word ^= (word << 15) & 0xefc60000u;
    return word ^ (word >> 18);
  }

 private:
  uint32_t words[SIZE];
  uint32_t next;

  void twist() {
    for (uint32_t i = 0; i < SIZE; i++) {
      const uint32_t word = (words[i] & 0x80000000u) | (words[(i + 1) % SIZE] & 0x7fffffffu);
      words[i] = words[(i + 397) % SIZE] ^ (word >> 1) ^ (word & 1 ? 0x9908b0dfu : 0);
    }
    next = 0;
  }
};

template <class T>
struct uniform_real {};  // of [0, 1)

template <class Engine, class Distribution>
class variate_generator;

template <class Engine>
class variate_generator<Engine, uniform_real<float>> {
 public:
  variate_generator(Engine engine, uniform_real<float>) : generator(engine) {}
  Engine& engine() { return generator; }
  float operator()() {
    for (;;) {
      const float result = static_cast<float>(generator()) / 4294967296.0f;
      if (result < 1.0f) return result;
    }
  }

 private:
  Engine generator;
};

struct condition {
  void notify_one() {}
};

inline std::string to_upper_copy(std::string text) {
  for (char& c : text) c = 'a' <= c && c <= 'z' ? c - 'a' + 'A' : c;
  return text;
}

}  // namespace boost

using std::placeholders::_1;
using std::placeholders::_2;
