/* The timer of the console: a register of ALE's M6532, read without advancing the system's clock. */
#ifndef ENVPOOL_ATARI_TIMER_H
#define ENVPOOL_ATARI_TIMER_H

#include "ale/emucore/M6532.hxx"
#include "exposed.h"

namespace envpool::atari {
namespace {

using ale::stella::M6532;

ENVPOOL_EXPOSE(TimerValue, M6532, uint32_t, myTimer)
ENVPOOL_EXPOSE(TimerShift, M6532, uint32_t, myIntervalShift)
ENVPOOL_EXPOSE(TimerStart, M6532, int, myCyclesWhenTimerSet)

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
