// Reads and writes of the television chip's registers.

#include "video.h"

#include "ale/emucore/Console.hxx"
#include "ale/emucore/Control.hxx"

namespace ale::stella {

namespace {

/* Addresses of the registers for writing. */
enum {
  WSYNC = 0x02, NUSIZ0 = 0x04, NUSIZ1 = 0x05, COLUP0 = 0x06, COLUP1 = 0x07, COLUPF = 0x08, COLUBK = 0x09,
  CTRLPF = 0x0a, PF0 = 0x0d, PF1 = 0x0e, PF2 = 0x0f, AUDC0 = 0x15, AUDV1 = 0x1a, GRP0 = 0x1b, GRP1 = 0x1c,
  ENAM0 = 0x1d, ENAM1 = 0x1e, ENABL = 0x1f, HMP0 = 0x20, HMP1 = 0x21, HMM1 = 0x23, HMBL = 0x24, VDELP0 = 0x25,
  VDELP1 = 0x26, HMOVE = 0x2a, HMCLR = 0x2b, CXCLR = 0x2c
};

}  // namespace

inline void TIADebug::set_enabled(TIA &tia, uint8_t bit, bool on) {
  tia.myEnabledObjects = static_cast<uint8_t>(on ? tia.myEnabledObjects | bit : tia.myEnabledObjects & ~bit);
}

/* Moves all objects by their motion registers; the distance depends on the clock within the line. */
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

uint8_t TIADebug::read(TIA &tia, uint16_t address, uint32_t cycles, uint8_t bus) {
  const uint8_t noise = bus & 0x3f;
  const unsigned reg = address & 0x0f;
  if (reg < 8) {
    advance(tia, static_cast<int>(cycles * 3));
    /* Two latches per register, except for the second last one, which has one. */
    const unsigned pair = tia.myCollision >> (2 * reg - (reg == 7));
    const unsigned high = pair & 1, low = reg == 6 ? 0 : pair >> 1 & 1;
    return static_cast<uint8_t>(high << 7 | low << 6 | noise);
  }
  if (tia.myHMOVEBlankEnabled) advance(tia, static_cast<int>(cycles * 3));
  bool charged = false;
  if (reg < 12) {
    /* Paddles: the further the knob is turned, the longer the capacitor takes to charge. */
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

/* The players' graphics as shown: each is delayed by a write to the other one where that is switched on, and mirrored
 * where that is. */
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

  /* If a write does not change the frame, the frame need not be drawn up to the write. */
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
    /* These two take effect so late that the next access may be in the same cell, so that the run always ends here. */
    case NUSIZ0:
      changes(true);
      tia.myNUSIZ0 = value;
      tia.myCurrentP0Mask = player_mask(tia.myPOSP0, value);
      tia.myCurrentM0Mask = missile_mask(tia.myPOSM0, value, (value & 0x30) >> 4);
      return cycles;
    case NUSIZ1:
      changes(true);
      tia.myNUSIZ1 = value;
      tia.myCurrentP1Mask = player_mask(tia.myPOSP1, value);
      tia.myCurrentM1Mask = missile_mask(tia.myPOSM1, value, (value & 0x30) >> 4);
      return cycles;
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
