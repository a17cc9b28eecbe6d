#include "video.h"

#include <algorithm>
#include <cstring>

#include "ale/emucore/Console.hxx"
#include "ale/emucore/Control.hxx"
#include "ale/emucore/M6502.hxx"
#include "ale/emucore/Sound.hxx"

namespace ale::stella {

namespace {

constexpr int kLine = 228;      /* clocks of a line                                                       */
constexpr int kBlank = 68;      /* of which nothing is drawn                                              */
constexpr int kComb = 8;        /* pixels at the left that a motion strobe blanks                         */
constexpr int kColumns = 160;   /* pixels of a line                                                       */
constexpr int kHalf = 80;       /* where the score mode changes its colour                                */
constexpr int kCell = 4;        /* pixels that a bit of the playfield covers                              */
constexpr int kLanes = 16;      /* pixels composed at once                                                */

/* Registers, for writing. */
enum {
  WSYNC = 0x02, NUSIZ0 = 0x04, NUSIZ1 = 0x05, COLUP0 = 0x06, COLUP1 = 0x07, COLUPF = 0x08, COLUBK = 0x09,
  CTRLPF = 0x0a, PF0 = 0x0d, PF1 = 0x0e, PF2 = 0x0f, AUDC0 = 0x15, AUDV1 = 0x1a, GRP0 = 0x1b, GRP1 = 0x1c,
  ENAM0 = 0x1d, ENAM1 = 0x1e, ENABL = 0x1f, HMP0 = 0x20, HMP1 = 0x21, HMM1 = 0x23, HMBL = 0x24, VDELP0 = 0x25,
  VDELP1 = 0x26, HMOVE = 0x2a, HMCLR = 0x2b, CXCLR = 0x2c
};

using Lanes = uint8_t __attribute__((vector_size(kLanes)));
using Words = uint64_t __attribute__((vector_size(kLanes)));

/* A column, from one that a motion took beyond an end of the line. */
inline int16_t wrap(int column) {
  return static_cast<int16_t>(column >= kColumns ? column - kColumns : column < 0 ? column + kColumns : column);
}

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

/* Zeros, ones, zeros: loads at an offset give the lanes from one on, or up to one. */
constexpr struct Edges {
  uint8_t bytes[3 * kLanes];
  constexpr Edges() : bytes() {
    for (int k = 0; k < kLanes; ++k) bytes[kLanes + k] = 0xff;
  }
} kEdgeTable;
constexpr const uint8_t *kEdges = kEdgeTable.bytes;

/* Four cells of the playfield, by their bits. */
constexpr struct Cells {
  uint8_t bytes[16][kLanes];
  constexpr Cells() : bytes() {
    for (int bits = 0; bits < 16; ++bits) {
      for (int k = 0; k < kLanes; ++k) bytes[bits][k] = bits >> k / kCell & 1 ? 0xff : 0;
    }
  }
} kCellTable;
constexpr const uint8_t (&kCells)[16][kLanes] = kCellTable.bytes;

/* Which pixels each object covers. */
struct Objects {
  Lanes p0, m0, p1, m1, bl, pf;
};

/* The latches, of those wanted, that these objects set. */
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

inline void TIADebug::set_enabled(TIA &tia, uint8_t bit, bool on) {
  tia.myEnabledObjects = static_cast<uint8_t>(on ? tia.myEnabledObjects | bit : tia.myEnabledObjects & ~bit);
}

/* Pixels beyond the run, to the end of their cell: TIA draws whole cells where no object but the playfield can be, so
 * that a frame which ends inside a cell shows them. */
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

/* The playfield's 40 cells of a line as bits, the leftmost first. The register holds 4, 8 and 8 bits; the second part
 * runs backwards, and the right half may mirror the left one. */
inline uint64_t TIADebug::playfield_cells(const TIA &tia) {
  const uint32_t bits = tia.myPF;
  const uint8_t *const mirror = TIA::ourPlayerReflectTable;
  const uint64_t left = (bits & 0x0f) | static_cast<uint32_t>(mirror[bits >> 4 & 0xff]) << 4 | (bits & 0xff000);
  if (tia.myCurrentPFMask != TIA::ourPlayfieldTable[1]) return left | left << 20;
  const uint64_t mirrored = static_cast<uint64_t>(mirror[bits >> 12 & 0xff]) | (bits & 0x00ff0) << 4 |
                            static_cast<uint64_t>(mirror[bits & 0x0f]) << 12;
  return left | mirrored << 20;
}

/* A run of pixels of one line, between two changes of state, in aligned blocks. `wanted` are the collisions that are
 * not latched yet and that the enabled objects could have. */
template <bool Drawing>
void TIADebug::compose(TIA &tia, int length, int column, unsigned wanted) {
  const uint8_t enabled = tia.myEnabledObjects;
  const bool priority = tia.myPlayfieldPriorityAndScore & TIA::PriorityBit;
  const bool score = tia.myPlayfieldPriorityAndScore & TIA::ScoreBit;
  const bool movable = enabled & ~TIA::myPFBit;
  const int end = column + length;
  uint8_t *const line = tia.myFramePointer - column;
  const uint64_t cells = enabled & TIA::myPFBit ? playfield_cells(tia) : 0;

  /* Missiles and ball that are off have an empty mask; the graphics of players that are off are zero. */
  const uint8_t *const mask_m0 = enabled & TIA::myM0Bit ? tia.myCurrentM0Mask : TIA::ourDisabledMaskTable;
  const uint8_t *const mask_m1 = enabled & TIA::myM1Bit ? tia.myCurrentM1Mask : TIA::ourDisabledMaskTable;
  const uint8_t *const mask_bl = enabled & TIA::myBLBit ? tia.myCurrentBLMask : TIA::ourDisabledMaskTable;
  const Lanes grp0 = all(tia.myCurrentGRP0), grp1 = all(tia.myCurrentGRP1);
  const Lanes background = all(tia.myCOLUBK), player0 = all(tia.myCOLUP0), player1 = all(tia.myCOLUP1);

  for (int first = column & ~(kLanes - 1); first < end; first += kLanes) {
    const int from = std::max(column - first, 0), to = std::min(end - first, kLanes);
    const Lanes inside = load(kEdges + kLanes - from) & load(kEdges + 2 * kLanes - to);
    const Lanes pf = load(kCells[cells >> first / kCell & 0x0f]);
    const Lanes playfield = all(!score || (priority && movable) ? tia.myCOLUPF : first < kHalf ? tia.myCOLUP0 : tia.myCOLUP1);
    Lanes pixels;
    if (Drawing) pixels = choose(pf, playfield, background);

    if (movable) {
      Lanes p0 = load(tia.myCurrentP0Mask + first) & grp0 & inside, p1 = load(tia.myCurrentP1Mask + first) & grp1 & inside;
      Lanes m0 = load(mask_m0 + first) & inside, m1 = load(mask_m1 + first) & inside, bl = load(mask_bl + first) & inside;
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

/* Draws `length` pixels from `column` on, with the registers as they are, and latches collisions. */
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

/* Masks of the objects where they are now. */
inline const uint8_t *TIADebug::player_mask(int position, uint8_t size) {
  return &TIA::ourPlayerMaskTable[position & 3][0][size & 7][kColumns - (position & 0xfc)];
}
inline const uint8_t *TIADebug::missile_mask(int position, uint8_t size, int width) {
  return &TIA::ourMissleMaskTable[position & 3][size & 7][width][kColumns - (position & 0xfc)];
}
inline const uint8_t *TIADebug::ball_mask(const TIA &tia) {
  return &TIA::ourBallMaskTable[tia.myPOSBL & 3][(tia.myCTRLPF & 0x30) >> 4][kColumns - (tia.myPOSBL & 0xfc)];
}

/* What happens between two lines: masks are as if no object had been moved within the line. */
inline void TIADebug::finish_line(TIA &tia) {
  tia.myCurrentPFMask = TIA::ourPlayfieldTable[tia.myCTRLPF & 0x01];
  tia.myCurrentP0Mask = player_mask(tia.myPOSP0, tia.myNUSIZ0);
  tia.myCurrentP1Mask = player_mask(tia.myPOSP1, tia.myNUSIZ1);
  if (!tia.myM0CosmicArkMotionEnabled) return;

  /* The first missile drifts after a write to its motion register at the wrong time; games draw stars with it. */
  static constexpr int kDrift[4] = {18, 33, 0, 17};
  tia.myM0CosmicArkCounter = (tia.myM0CosmicArkCounter + 1) & 3;
  tia.myPOSM0 = wrap(tia.myPOSM0 - kDrift[tia.myM0CosmicArkCounter]);
  const int width = (tia.myNUSIZ0 & 0x30) >> 4 | (tia.myM0CosmicArkCounter == 1);
  tia.myCurrentM0Mask = tia.myM0CosmicArkCounter == 2 ? TIA::ourDisabledMaskTable
                                                      : missile_mask(tia.myPOSM0, tia.myNUSIZ0, width);
}

/* Moves all objects by their motion registers; how far depends on the processor's clock within the line. */
inline void TIADebug::move(TIA &tia, int clock, uint32_t in_line) {
  if (tia.myAllowHMOVEBlanks && TIA::ourHMOVEBlankEnableCycles[in_line]) tia.myHMOVEBlankEnabled = true;
  const int(&motion)[16] = TIA::ourCompleteMotionTable[in_line];
  tia.myPOSP0 = wrap(tia.myPOSP0 + motion[tia.myHMP0]);
  tia.myPOSP1 = wrap(tia.myPOSP1 + motion[tia.myHMP1]);
  tia.myPOSM0 = wrap(tia.myPOSM0 + motion[tia.myHMM0]);
  tia.myPOSM1 = wrap(tia.myPOSM1 + motion[tia.myHMM1]);
  tia.myPOSBL = wrap(tia.myPOSBL + motion[tia.myHMBL]);
  tia.myCurrentP0Mask = player_mask(tia.myPOSP0, tia.myNUSIZ0);
  tia.myCurrentP1Mask = player_mask(tia.myPOSP1, tia.myNUSIZ1);
  tia.myCurrentM0Mask = missile_mask(tia.myPOSM0, tia.myNUSIZ0, (tia.myNUSIZ0 & 0x30) >> 4);
  tia.myCurrentM1Mask = missile_mask(tia.myPOSM1, tia.myNUSIZ1, (tia.myNUSIZ1 & 0x30) >> 4);
  tia.myCurrentBLMask = ball_mask(tia);
  tia.myLastHMOVEClock = clock;
  tia.myM0CosmicArkMotionEnabled = false;
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
    /* A line that ends exactly at the clock is finished by the next call, with the registers of then. */
    if (tia.myClocksToEndOfScanLine == kLine) finish_line(tia);
  } while (tia.myClockAtLastUpdate < clock);
}

uint8_t TIADebug::read(TIA &tia, uint16_t address, uint32_t cycles, uint8_t bus) {
  const uint8_t noise = bus & 0x3f;
  const unsigned reg = address & 0x0f;
  if (reg < 8) {
    advance(tia, static_cast<int>(cycles * 3));
    const unsigned pair = tia.myCollision >> (2 * reg);
    const unsigned high = pair & 1, low = reg == 6 ? 0 : pair >> 1 & 1;
    if (reg == 7) return static_cast<uint8_t>((tia.myCollision & 0x2000) >> 6 | (tia.myCollision & 0x4000) >> 8 | noise);
    return static_cast<uint8_t>(high << 7 | low << 6 | noise);
  }
  if (tia.myHMOVEBlankEnabled) advance(tia, static_cast<int>(cycles * 3));
  bool charged = false;
  if (reg < 12) {
    /* Paddles: a capacitor that takes the longer the more the knob is turned. */
    Controller &controller = tia.myConsole.controller(reg < 10 ? Controller::Left : Controller::Right);
    const int resistance = controller.read(reg & 1 ? Controller::Five : Controller::Nine);
    if (resistance == Controller::minimumResistance) {
      charged = true;
    } else if (resistance != Controller::maximumResistance && !tia.myDumpEnabled) {
      const double seconds = 1.6 * resistance * 0.01E-6;
      charged = cycles > tia.myDumpDisabledCycle + static_cast<uint32_t>(seconds * 1.19E6);
    }
  } else if (reg < 14) {
    charged = tia.myConsole.controller(reg == 12 ? Controller::Left : Controller::Right).read(Controller::Six);
  }
  return static_cast<uint8_t>((charged ? 0x80 : 0) | noise);
}

/* The players' graphics as shown: each is delayed by a write to the other one where that is switched on, and mirrored. */
inline void TIADebug::show_players(TIA &tia) {
  const uint8_t grp0 = tia.myVDELP0 ? tia.myDGRP0 : tia.myGRP0, grp1 = tia.myVDELP1 ? tia.myDGRP1 : tia.myGRP1;
  tia.myCurrentGRP0 = tia.myREFP0 ? TIA::ourPlayerReflectTable[grp0] : grp0;
  tia.myCurrentGRP1 = tia.myREFP1 ? TIA::ourPlayerReflectTable[grp1] : grp1;
  set_enabled(tia, TIA::myP0Bit, tia.myCurrentGRP0 != 0);
  set_enabled(tia, TIA::myP1Bit, tia.myCurrentGRP1 != 0);
}

uint32_t TIADebug::write(TIA &tia, System &system, uint16_t address, uint8_t value, uint32_t cycles) {
  const unsigned reg = address & 0x3f;
  const int clock = static_cast<int>(cycles * 3);
  const uint32_t in_frame = cycles - static_cast<uint32_t>(tia.myClockWhenFrameStarted / 3);
  int delay = TIA::ourPokeDelayTable[reg];
  if (delay < 0) {
    static constexpr int kPlayfieldDelay[4] = {4, 5, 2, 3};
    delay = kPlayfieldDelay[in_frame & 3];
  }
  const bool is_overdue = (clock - tia.myClockWhenFrameStarted) / kLine > tia.myMaximumNumberOfScanlines;

  /* A write that does not change the picture need not draw what comes before it. */
  bool is_drawn = is_blanking(tia);
  if (is_drawn) advance(tia, clock + delay);
  const auto changes = [&](bool change) {
    if (change && !is_drawn) advance(tia, clock + delay);
    return change;
  };

  if (!is_overdue) switch (reg) {
    case WSYNC: {
      const uint32_t in_line = in_frame % (kLine / 3);
      return in_line ? cycles + kLine / 3 - in_line : cycles;
    }
    case HMP0: tia.myHMP0 = static_cast<int8_t>(value >> 4); return cycles;
    case HMP1: tia.myHMP1 = static_cast<int8_t>(value >> 4); return cycles;
    case HMM1: tia.myHMM1 = static_cast<int8_t>(value >> 4); return cycles;
    case HMBL: tia.myHMBL = static_cast<int8_t>(value >> 4); return cycles;
    case HMCLR: tia.myHMP0 = tia.myHMP1 = tia.myHMM0 = tia.myHMM1 = tia.myHMBL = 0; return cycles;
    case HMOVE:
      changes(true);
      move(tia, clock, in_frame % (kLine / 3));
      return cycles;
    case COLUP0: case COLUP1: case COLUPF: case COLUBK: {
      /* In the order of the registers. */
      uint32_t *const colours[] = {&tia.myCOLUP0, &tia.myCOLUP1, &tia.myCOLUPF, &tia.myCOLUBK};
      const uint32_t loss = tia.myColorLossEnabled && (tia.myScanlineCountForLastFrame & 1);
      const uint32_t colour = ((value & 0xfeu) | loss) * 0x01010101u;
      if (changes(*colours[reg - COLUP0] != colour)) *colours[reg - COLUP0] = colour;
      return cycles;
    }
    case PF0: case PF1: case PF2: {
      static constexpr struct {
        uint32_t others;
        int up, down;
      } kPart[] = {{0xffff0, 0, 4}, {0xff00f, 4, 0}, {0x00fff, 12, 0}};
      const auto &part = kPart[reg - PF0];
      const uint32_t bits = (tia.myPF & part.others) | static_cast<uint32_t>(value >> part.down) << part.up;
      if (changes(tia.myPF != bits)) {
        tia.myPF = bits;
        set_enabled(tia, TIA::myPFBit, bits != 0 && tia.myBitEnabled[TIA::PF]);
      }
      return cycles;
    }
    case GRP0:
      if (changes(tia.myGRP0 != value || tia.myDGRP1 != tia.myGRP1)) {
        tia.myGRP0 = tia.myBitEnabled[TIA::P0] ? value : 0;
        tia.myDGRP1 = tia.myGRP1;
        show_players(tia);
      }
      return cycles;
    case GRP1:
      if (changes(tia.myGRP1 != value || tia.myDGRP0 != tia.myGRP0 || tia.myDENABL != tia.myENABL)) {
        tia.myGRP1 = tia.myBitEnabled[TIA::P1] ? value : 0;
        tia.myDGRP0 = tia.myGRP0;
        tia.myDENABL = tia.myENABL;
        show_players(tia);
        set_enabled(tia, TIA::myBLBit, tia.myVDELBL ? tia.myDENABL : tia.myENABL);
      }
      return cycles;
    case VDELP0: case VDELP1: {
      bool &delayed = reg == VDELP0 ? tia.myVDELP0 : tia.myVDELP1;
      if (changes(delayed != (value & 1))) {
        delayed = value & 1;
        show_players(tia);
      }
      return cycles;
    }
    case ENAM0:
      if (changes(tia.myENAM0 != ((value & 2) != 0))) {
        tia.myENAM0 = (value & 2) && tia.myBitEnabled[TIA::M0];
        set_enabled(tia, TIA::myM0Bit, tia.myENAM0 && !tia.myRESMP0);
      }
      return cycles;
    case ENAM1:
      if (changes(tia.myENAM1 != ((value & 2) != 0))) {
        tia.myENAM1 = (value & 2) && tia.myBitEnabled[TIA::M1];
        set_enabled(tia, TIA::myM1Bit, tia.myENAM1 && !tia.myRESMP1);
      }
      return cycles;
    case ENABL:
      if (changes(tia.myENABL != ((value & 2) != 0))) {
        tia.myENABL = (value & 2) && tia.myBitEnabled[TIA::BL];
        set_enabled(tia, TIA::myBLBit, tia.myVDELBL ? tia.myDENABL : tia.myENABL);
      }
      return cycles;
    case NUSIZ0: {
      const uint8_t *player = player_mask(tia.myPOSP0, value);
      const uint8_t *missile = missile_mask(tia.myPOSM0, value, (value & 0x30) >> 4);
      if (changes(tia.myNUSIZ0 != value || tia.myCurrentP0Mask != player || tia.myCurrentM0Mask != missile)) {
        tia.myNUSIZ0 = value;
        tia.myCurrentP0Mask = player_mask(tia.myPOSP0, value); /* drawing may have moved the missile */
        tia.myCurrentM0Mask = missile_mask(tia.myPOSM0, value, (value & 0x30) >> 4);
      }
      return cycles;
    }
    case NUSIZ1: {
      const uint8_t *player = player_mask(tia.myPOSP1, value);
      const uint8_t *missile = missile_mask(tia.myPOSM1, value, (value & 0x30) >> 4);
      if (changes(tia.myNUSIZ1 != value || tia.myCurrentP1Mask != player || tia.myCurrentM1Mask != missile)) {
        tia.myNUSIZ1 = value;
        tia.myCurrentP1Mask = player;
        tia.myCurrentM1Mask = missile;
      }
      return cycles;
    }
    case CTRLPF:
      changes(true);
      tia.myCTRLPF = value;
      tia.myPlayfieldPriorityAndScore = static_cast<uint8_t>((value & 0x06) << 5);
      /* Mirroring takes effect at the middle of the line. */
      if (static_cast<int>(in_frame % (kLine / 3)) * 3 < kBlank + kHalf - 1) {
        tia.myCurrentPFMask = TIA::ourPlayfieldTable[value & 0x01];
      }
      tia.myCurrentBLMask = ball_mask(tia);
      return cycles;
    case CXCLR:
      changes(true);
      tia.myCollision = 0;
      return cycles;
    default:
      /* No sound is made. */
      if (reg >= AUDC0 && reg <= AUDV1) return cycles;
      break;
  }

  changes(true);
  system.incrementCycles(cycles - system.cycles());
  tia.TIA::poke(address, value);
  return system.cycles();
}

}  // namespace ale::stella
