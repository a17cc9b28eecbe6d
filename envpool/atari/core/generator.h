/* The generator behind ale::stella::Random. */
#ifndef ENVPOOL_ATARI_GENERATOR_H
#define ENVPOOL_ATARI_GENERATOR_H

#include "ale/emucore/Random.hxx"
#include "envpool/rng_legacy.h"

namespace envpool::atari {

/* Returns the state of a generator, which may be read and written. */
ep_mt19937 &generator_of(ale::stella::Random &random);

}  // namespace envpool::atari

#endif  // ENVPOOL_ATARI_GENERATOR_H
