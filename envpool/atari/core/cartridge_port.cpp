// Saves and restores cartridges: with 2 or 4 KB, and with banks of kinds F8, F6, F8SC, F6SC, E0, FE and DPC, which are those
// of the games that ALE supports.

#include "ale/emucore/CartE0.hxx"
#include "exposed.h"
#include "machine_state.h"

namespace envpool::atari {

using ale::stella::CartridgeDPC;
using ale::stella::System;

namespace {

using Bytes8 = uint8_t[8];
using Words8 = uint16_t[8];
using Flags3 = bool[3];
ENVPOOL_EXPOSE(Tops, CartridgeDPC, Bytes8, myTops)
ENVPOOL_EXPOSE(Bottoms, CartridgeDPC, Bytes8, myBottoms)
ENVPOOL_EXPOSE(Counters, CartridgeDPC, Words8, myCounters)
ENVPOOL_EXPOSE(Fetched, CartridgeDPC, Bytes8, myFlags)
ENVPOOL_EXPOSE(Music, CartridgeDPC, Flags3, myMusicMode)
ENVPOOL_EXPOSE(RandomNumber, CartridgeDPC, uint8_t, myRandomNumber)
ENVPOOL_EXPOSE(MusicCycles, CartridgeDPC, int, mySystemCycles)
ENVPOOL_EXPOSE(MusicClocks, CartridgeDPC, double, myFractionalClocks)

constexpr uint16_t kStart = 0x1000;      /* address of a cartridge; RAM is written here                       */
constexpr int kSlices = 3;               /* of an E0 cartridge that can be chosen; each has 1 KB              */
constexpr uint16_t kSwitches = 0x1fe0;   /* reading one of the eight addresses for each slice chooses a bank  */

template <typename State, typename Dpc, typename Visit>
void visit_all(State &state, Dpc &dpc, Visit visit) {
  for (int k = 0; k < 8; k++) {
    visit(state.tops[k], (dpc.*member(Tops()))[k]);
    visit(state.bottoms[k], (dpc.*member(Bottoms()))[k]);
    visit(state.counters[k], (dpc.*member(Counters()))[k]);
    visit(state.flags[k], (dpc.*member(Fetched()))[k]);
  }
  for (int k = 0; k < 3; k++) visit(state.music[k], (dpc.*member(Music()))[k]);
  visit(state.random, dpc.*member(RandomNumber()));
  visit(state.music_cycles, dpc.*member(MusicCycles()));
  visit(state.music_clocks, dpc.*member(MusicClocks()));
}

const System::PageAccess &page_of(System &system, int address) {
  return system.getPageAccess(static_cast<uint16_t>(address >> system.pageShift()));
}

}  // namespace

CartridgePort::CartridgePort(System &system)
    : system_(system),
      cartridge_(static_cast<ale::stella::Cartridge &>(*page_of(system, kStart).device)),
      dpc_(dynamic_cast<CartridgeDPC *>(&cartridge_)),
      ram_(page_of(system, kStart).directPokeBase),
      has_slices_(dynamic_cast<ale::stella::CartridgeE0 *>(&cartridge_) != nullptr) {}

void CartridgePort::save(CartridgeState *state) const {
  state->bank = static_cast<uint16_t>(cartridge_.bank());
  if (dpc_) visit_all(*state, *dpc_, Save());
  if (ram_) std::memcpy(state->ram, ram_, sizeof state->ram);
  if (has_slices_) {
    int size;
    const uint8_t *const image = cartridge_.getImage(size);
    for (int k = 0; k < kSlices; k++)
      state->slices[k] = static_cast<uint8_t>((page_of(system_, kStart + 0x400 * k).directPeekBase - image) >> 10);
  }
}

bool CartridgePort::is_valid(const CartridgeState &state) const {
  if (state.bank >= cartridge_.bankCount()) return false;
  for (const uint8_t slice : state.slices) {
    if (slice >= 8) return false;
  }
  for (const uint16_t counter : state.counters) {
    if (counter >= 2048) return false;
  }
  return (state.music[0] | state.music[1] | state.music[2]) <= 1 && state.music_clocks >= -1 && state.music_clocks <= 1;
}

void CartridgePort::restore(const CartridgeState &state) {
  cartridge_.bank(state.bank);
  if (dpc_) visit_all(state, *dpc_, Restore());
  if (ram_) std::memcpy(ram_, state.ram, sizeof state.ram);
  for (int k = 0; has_slices_ && k < kSlices; k++)
    cartridge_.peek(static_cast<uint16_t>(kSwitches + 8 * k + state.slices[k]));
}

}  // namespace envpool::atari
