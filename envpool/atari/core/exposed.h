/* Access to private members of ALE's classes: an explicit instantiation may name them. */
#ifndef ENVPOOL_ATARI_EXPOSED_H
#define ENVPOOL_ATARI_EXPOSED_H

namespace envpool::atari {
namespace {

template <typename Name, typename Name::Type Member>
struct Exposed {
  friend constexpr typename Name::Type member(Name) { return Member; }
};

}  // namespace
}  // namespace envpool::atari

/* Makes `object.*member(name())` the member `field` of an object of the class `owner`. The type must not be an array. */
#define ENVPOOL_EXPOSE(name, owner, type, field) \
  struct name {                                  \
    using Type = type owner::*;                  \
    friend constexpr Type member(name);          \
  };                                             \
  template struct Exposed<name, &owner::field>;

#endif  // ENVPOOL_ATARI_EXPOSED_H
