// Draws the scanlines of a frame from the state of the television chip, a run of pixels at a time.

#include "video.h"

#include <algorithm>
#include <cstring>

namespace ale::stella {

namespace {

constexpr int kComb = 8;        /* pixels at the left that a motion strobe blanks                         */
constexpr int kLanes = 16;      /* pixels composed at once                                                */

using Lanes = uint8_t __attribute__((vector_size(kLanes)));
using Words = uint64_t __attribute__((vector_size(kLanes)));

inline Lanes load(const uint8_t *from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}
inline Lanes is_set(Lanes lanes) { return reinterpret_cast<Lanes>(lanes != 0); }
inline Lanes choose(Lanes mask, Lanes yes, Lanes no) { return (mask & yes) | (~mask & no); }
inline Lanes all(uint32_t value) { return Lanes{} + static_cast<uint8_t>(value); }
inline bool any(Lanes lanes) {
  const Words words = reinterpret_cast<Words>(lanes);
  return (words[0] | words[1]) != 0;
}

/* Zeros, ones, zeros: a load at an offset returns the mask of all lanes from a given one on, or up to it. */
constexpr struct Edges {
  uint8_t bytes[3 * kLanes];
  constexpr Edges() : bytes() {
    for (int k = 0; k < kLanes; ++k) bytes[kLanes + k] = 0xff;
  }
} kEdgeTable;
constexpr const uint8_t *kEdges = kEdgeTable.bytes;

/* Masks of four cells of the playfield, by their bits. */
constexpr struct Cells {
  uint8_t bytes[16][kLanes];
  constexpr Cells() : bytes() {
    for (int bits = 0; bits < 16; ++bits) {
      for (int k = 0; k < kLanes; ++k) bytes[bits][k] = bits >> k / kCell & 1 ? 0xff : 0;
    }
  }
} kCellTable;
constexpr const uint8_t (&kCells)[16][kLanes] = kCellTable.bytes;

/* Masks of the pixels that each object covers. */
struct Objects {
  Lanes p0, m0, p1, m1, bl, pf;
};

/* Returns which of the wanted collision latches these objects set. */
inline unsigned collisions(const Objects &on, unsigned wanted) {
  unsigned found = 0;
  const auto test = [&](unsigned latch, Lanes one, Lanes other) {
    if (wanted & latch && any(one & other)) found |= latch;
  };
  test(0x0001, on.m0, on.p1);
  test(0x0002, on.m0, on.p0);
  test(0x0004, on.m1, on.p0);
  test(0x0008, on.m1, on.p1);
  test(0x0010, on.p0, on.pf);
  test(0x0020, on.p0, on.bl);
  test(0x0040, on.p1, on.pf);
  test(0x0080, on.p1, on.bl);
  test(0x0100, on.m0, on.pf);
  test(0x0200, on.m0, on.bl);
  test(0x0400, on.m1, on.pf);
  test(0x0800, on.m1, on.bl);
  test(0x1000, on.bl, on.pf);
  test(0x2000, on.p0, on.p1);
  test(0x4000, on.m0, on.m1);
  return found;
}

}  // namespace

/* Draws the pixels between the end of a run and the end of its cell. TIA draws whole cells where no object but the
 * playfield can be, so these pixels are visible in a frame that ends inside a cell. */
void TIADebug::overshoot(TIA &tia, int length, int column) {
  const int end = column + length, cell = end & ~(kCell - 1);
  if (cell == end || cell < column) return;
  const uint8_t objects = tia.myEnabledObjects;
  const bool score = tia.myPlayfieldPriorityAndScore & TIA::ScoreBit;
  const uint8_t movable = objects & ~TIA::myPFBit;
  const bool lone = (movable & (movable - 1)) == 0;
  const bool has_playfield = objects & TIA::myPFBit;
  bool by_cells;
  if (has_playfield) {
    const uint8_t fine = TIA::myP0Bit | TIA::myP1Bit | TIA::myBLBit;
    by_cells = movable == 0 || (!score && lone && (movable & fine));
  } else {
    by_cells = movable != 0 && (lone || movable == (TIA::myP0Bit | TIA::myP1Bit) ||
                                movable == (TIA::myM0Bit | TIA::myM1Bit) || movable == (TIA::myBLBit | TIA::myM0Bit) ||
                                movable == (TIA::myBLBit | TIA::myM1Bit) || movable == (TIA::myBLBit | TIA::myP1Bit));
  }
  if (!by_cells) return;
  const struct {
    uint8_t bit;
    const uint8_t *mask;
  } masks[] = {{TIA::myP0Bit, tia.myCurrentP0Mask},
               {TIA::myM0Bit, tia.myCurrentM0Mask},
               {TIA::myP1Bit, tia.myCurrentP1Mask},
               {TIA::myM1Bit, tia.myCurrentM1Mask},
               {TIA::myBLBit, tia.myCurrentBLMask}};
  for (const auto &object : masks) {
    if (!(movable & object.bit)) continue;
    for (int k = 0; k < kCell; ++k) {
      if (object.mask[cell + k]) return;
    }
  }
  uint32_t colour = tia.myCOLUBK;
  if (has_playfield && (tia.myPF & tia.myCurrentPFMask[cell])) {
    colour = !score ? tia.myCOLUPF : cell < kHalf ? tia.myCOLUP0 : tia.myCOLUP1;
  }
  for (int k = end; k < cell + kCell; ++k) tia.myFramePointer[k - column] = static_cast<uint8_t>(colour);
}

/* Returns the playfield's 40 cells of a line as bits, the leftmost first. The register consists of 4, 8 and 8 bits; the
 * second part is reversed, and the right half may mirror the left half. */
inline uint64_t TIADebug::playfield_cells(const TIA &tia) {
  const uint32_t bits = tia.myPF;
  const uint8_t *const mirror = TIA::ourPlayerReflectTable;
  const uint64_t left = (bits & 0x0f) | static_cast<uint32_t>(mirror[bits >> 4 & 0xff]) << 4 | (bits & 0xff000);
  if (tia.myCurrentPFMask != TIA::ourPlayfieldTable[1]) return left | left << 20;
  const uint64_t mirrored = static_cast<uint64_t>(mirror[bits >> 12 & 0xff]) | (bits & 0x00ff0) << 4 |
                            static_cast<uint64_t>(mirror[bits & 0x0f]) << 12;
  return left | mirrored << 20;
}

/* Draws a run of pixels of one line, between two changes of state, in aligned blocks. `wanted` are the collisions that are
 * not latched yet and that are possible between the enabled objects. */
template <bool Drawing>
void TIADebug::compose(TIA &tia, int length, int column, unsigned wanted) {
  const uint8_t enabled = tia.myEnabledObjects;
  const bool priority = tia.myPlayfieldPriorityAndScore & TIA::PriorityBit;
  const bool score = tia.myPlayfieldPriorityAndScore & TIA::ScoreBit;
  const bool movable = enabled & ~TIA::myPFBit;
  const int end = column + length;
  uint8_t *const line = tia.myFramePointer - column;
  const uint64_t cells = enabled & TIA::myPFBit ? playfield_cells(tia) : 0;

  /* Disabled missiles and a disabled ball have an empty mask; the graphics of disabled players are zero. */
  const uint8_t *const mask_m0 = enabled & TIA::myM0Bit ? tia.myCurrentM0Mask : TIA::ourDisabledMaskTable;
  const uint8_t *const mask_m1 = enabled & TIA::myM1Bit ? tia.myCurrentM1Mask : TIA::ourDisabledMaskTable;
  const uint8_t *const mask_bl = enabled & TIA::myBLBit ? tia.myCurrentBLMask : TIA::ourDisabledMaskTable;
  const Lanes grp0 = all(tia.myCurrentGRP0), grp1 = all(tia.myCurrentGRP1);
  const Lanes background = all(tia.myCOLUBK), player0 = all(tia.myCOLUP0), player1 = all(tia.myCOLUP1);

  for (int first = column & ~(kLanes - 1); first < end; first += kLanes) {
    const int from = std::max(column - first, 0), to = std::min(end - first, kLanes);
    const Lanes inside = load(kEdges + kLanes - from) & load(kEdges + 2 * kLanes - to);
    const Lanes pf = load(kCells[cells >> first / kCell & 0x0f]);
    const uint32_t player = first < kHalf ? tia.myCOLUP0 : tia.myCOLUP1;
    const Lanes playfield = all(score && !(priority && movable) ? player : tia.myCOLUPF);
    Lanes pixels;
    if (Drawing) pixels = choose(pf, playfield, background);

    if (movable) {
      Lanes p0 = load(tia.myCurrentP0Mask + first) & grp0 & inside;
      Lanes p1 = load(tia.myCurrentP1Mask + first) & grp1 & inside;
      Lanes m0 = load(mask_m0 + first) & inside, m1 = load(mask_m1 + first) & inside;
      Lanes bl = load(mask_bl + first) & inside;
      if (any(p0 | p1 | m0 | m1 | bl)) {
        p0 = is_set(p0), p1 = is_set(p1), m0 = is_set(m0), m1 = is_set(m1), bl = is_set(bl);
        if (wanted) {
          const unsigned found = collisions({p0, m0, p1, m1, bl, pf}, wanted);
          tia.myCollision = static_cast<uint16_t>(tia.myCollision | found);
          wanted &= ~found;
          if (!Drawing && !wanted) return;
        }
        if (Drawing) {
          const Lanes ball = all(tia.myCOLUPF);
          if (priority) {
            pixels = choose(p0 | m0, player0, choose(p1 | m1, player1, background));
            pixels = choose(pf | bl, ball, pixels);
          } else {
            pixels = choose(bl & ~pf, ball, pixels);
            const Lanes hidden = score && first < kHalf ? pf : Lanes{};
            pixels = choose(p0 | m0, player0, choose((p1 | m1) & ~hidden, player1, pixels));
          }
        }
      }
    }
    if (Drawing) {
      if (to - from != kLanes) pixels = choose(inside, pixels, load(line + first));
      std::memcpy(line + first, &pixels, kLanes);
    }
  }
}

/* Draws `length` pixels, starting at `column`, with the current registers, and latches collisions. */
inline void TIADebug::draw(TIA &tia, int length, int column) {
  const bool drawing = !tia.fastUpdate;
  if (tia.myVBLANK & 0x02) {
    if (drawing) std::memset(tia.myFramePointer, 0, length);
  } else if (!tia.myEnabledObjects) {
    if (drawing) std::memset(tia.myFramePointer, static_cast<uint8_t>(tia.myCOLUBK), length);
  } else {
    const unsigned wanted = TIA::ourCollisionTable[tia.myEnabledObjects] & ~tia.myCollision;
    if (drawing) {
      compose<true>(tia, length, column, wanted);
      overshoot(tia, length, column);
    } else if (wanted) {
      compose<false>(tia, length, column, wanted);
    }
  }
  tia.myFramePointer += length;
}

/* Updates the state between two lines: masks forget movements within the line. */
inline void TIADebug::finish_line(TIA &tia) {
  tia.myCurrentPFMask = TIA::ourPlayfieldTable[tia.myCTRLPF & 0x01];
  tia.myCurrentP0Mask = player_mask(tia.myPOSP0, tia.myNUSIZ0);
  tia.myCurrentP1Mask = player_mask(tia.myPOSP1, tia.myNUSIZ1);
  if (!tia.myM0CosmicArkMotionEnabled) return;

  /* The first missile drifts after a write to its motion register at an illegal time; games draw stars in this way. */
  static constexpr int kDrift[4] = {18, 33, 0, 17};
  tia.myM0CosmicArkCounter = (tia.myM0CosmicArkCounter + 1) & 3;
  tia.myPOSM0 = wrap(tia.myPOSM0 - kDrift[tia.myM0CosmicArkCounter]);
  const int width = (tia.myNUSIZ0 & 0x30) >> 4 | (tia.myM0CosmicArkCounter == 1);
  tia.myCurrentM0Mask = tia.myM0CosmicArkCounter == 2 ? TIA::ourDisabledMaskTable
                                                      : missile_mask(tia.myPOSM0, tia.myNUSIZ0, width);
}

void TIADebug::advance(TIA &tia, int clock) {
  if (clock < tia.myClockStartDisplay || tia.myClockAtLastUpdate >= tia.myClockStopDisplay ||
      tia.myClockAtLastUpdate >= clock) {
    return;
  }
  clock = std::min(clock, tia.myClockStopDisplay);
  do {
    int from = kLine - tia.myClocksToEndOfScanLine, length;
    if (clock > tia.myClockAtLastUpdate + tia.myClocksToEndOfScanLine) {
      length = tia.myClocksToEndOfScanLine;
      tia.myClocksToEndOfScanLine = kLine;
      tia.myClockAtLastUpdate += length;
    } else {
      length = clock - tia.myClockAtLastUpdate;
      tia.myClocksToEndOfScanLine -= length;
      tia.myClockAtLastUpdate = clock;
    }
    if (from < kBlank) {
      const int blank = std::min(kBlank - from, length);
      from += blank;
      length -= blank;
    }
    uint8_t *const start = tia.myFramePointer;
    if (length) draw(tia, length, from - kBlank);
    if (tia.myHMOVEBlankEnabled && from < kBlank + kComb) {
      if (!tia.fastUpdate) std::memset(start, 0, kBlank + kComb - from);
      if (length + from >= kBlank + kComb) tia.myHMOVEBlankEnabled = false;
    }
    /* A line that ends exactly at the clock is finished by the next call, with the registers at that time. */
    if (tia.myClocksToEndOfScanLine == kLine) finish_line(tia);
  } while (tia.myClockAtLastUpdate < clock);
}

}  // namespace ale::stella
