// Replaces ALE's file Random.cxx, whose generator, a std::mt19937, can only be saved as text, which takes 100 us. The
// numbers are the same.

#include "generator.h"

namespace ale::stella {

class Random::Impl {
 public:
  ep_mt19937 generator;
};

Random::Random() : m_pimpl(new Impl()) { seed(5489); /* as std::mt19937 */ }

Random::~Random() { delete m_pimpl; }

void Random::seed(uint32_t value) { ep_mt19937_seed(&m_pimpl->generator, value); }

uint32_t Random::next() { return ep_legacy_next32(&m_pimpl->generator); }

double Random::nextDouble() { return next() / 4294967296.0; }

/* ALE's own snapshots are not used. */
bool Random::saveState(Serializer &) { return false; }

bool Random::loadState(Deserializer &) { return false; }

}  // namespace ale::stella

namespace envpool::atari {
namespace {

/* An explicit instantiation may name private members. */
template <auto Member>
struct Handle {
  friend ep_mt19937 &generator_in(ale::stella::Random &random) { return (random.*Member)->generator; }
};
template struct Handle<&ale::stella::Random::m_pimpl>;
ep_mt19937 &generator_in(ale::stella::Random &random);

}  // namespace

ep_mt19937 &generator_of(ale::stella::Random &random) { return generator_in(random); }

}  // namespace envpool::atari
