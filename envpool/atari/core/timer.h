/* The timer of the console: a register of ALE's M6532, read without advancing the system's clock. */
#ifndef ENVPOOL_ATARI_TIMER_H
#define ENVPOOL_ATARI_TIMER_H

#include "ale/emucore/M6532.hxx"

namespace envpool::atari {
namespace {

using ale::stella::M6532;

/* Access to private members of M6532: an explicit instantiation may name them. */
template <typename Name, typename Name::Type Member>
struct Exposed {
  friend constexpr typename Name::Type member(Name) { return Member; }
};
struct TimerValue {
  using Type = uint32_t M6532::*;
  friend constexpr Type member(TimerValue);
};
struct TimerShift {
  using Type = uint32_t M6532::*;
  friend constexpr Type member(TimerShift);
};
struct TimerStart {
  using Type = int M6532::*;
  friend constexpr Type member(TimerStart);
};
template struct Exposed<TimerValue, &M6532::myTimer>;
template struct Exposed<TimerShift, &M6532::myIntervalShift>;
template struct Exposed<TimerStart, &M6532::myCyclesWhenTimerSet>;

/* Whether an address refers to the timer's value or to the flag that the timer has run out, directly or by a mirror. */
constexpr bool is_timer(uint16_t address) { return (address & 0x1284) == 0x0284; }
/* Whether an address of the timer refers to the flag. */
constexpr bool is_flag(uint16_t address) { return address & 1; }

/* Returns the timer's value at a clock, which is negative after the timer has run out. */
inline int timer_value(const M6532 &timer, uint32_t cycles) {
  const uint32_t passed = cycles - 1 - static_cast<uint32_t>(timer.*member(TimerStart()));
  return static_cast<int>(timer.*member(TimerValue())) - static_cast<int>(passed >> timer.*member(TimerShift())) - 1;
}

}  // namespace
}  // namespace envpool::atari

#endif  // ENVPOOL_ATARI_TIMER_H
