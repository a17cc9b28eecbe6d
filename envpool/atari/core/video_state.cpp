// Saves and restores the television chip.

#include "video.h"

#include <algorithm>

namespace ale::stella {

using envpool::atari::Restore;
using envpool::atari::Save;
using envpool::atari::VideoState;

namespace {

constexpr uint16_t kDisabled = 0xffff;     /* stands for TIA's mask of an object that is switched off         */
constexpr int kMask = 2 * kColumns;        /* length of a mask; an object's begins at one of its columns, up  */
constexpr int kMaskStarts = kColumns + 1;  /* to the middle                                                   */
constexpr uint32_t kBuffer = kColumns * 300;  /* bytes of a frame buffer                                      */

/* Whether the offset in a table of masks is one at which an object's mask may begin: TIA reads masks in words. */
bool is_mask(uint16_t offset, size_t size) {
  return offset < size && offset % kMask < kMaskStarts && offset % sizeof(uint32_t) == 0;
}

bool is_column(int position) { return 0 <= position && position < kColumns; }

}  // namespace

/* All members that are saved as they are. The others are the pointers; what the constructor determines, such as the size
 * of the display; what every frame sets first; and the sound. */
template <typename State, typename Tia, typename Visit>
inline void TIADebug::visit_all(State &s, Tia &tia, Visit visit) {
  visit(s.frame_start, tia.myClockWhenFrameStarted);
  visit(s.drawn_until, tia.myClockAtLastUpdate);
  visit(s.left_in_line, tia.myClocksToEndOfScanLine);
  visit(s.vsync_end, tia.myVSYNCFinishClock);
  visit(s.last_motion, tia.myLastHMOVEClock);
  visit(s.lines_of_last_frame, tia.myScanlineCountForLastFrame);
  visit(s.dump_end, tia.myDumpDisabledCycle);
  visit(s.background, tia.myCOLUBK);
  visit(s.playfield_colour, tia.myCOLUPF);
  visit(s.player0_colour, tia.myCOLUP0);
  visit(s.player1_colour, tia.myCOLUP1);
  visit(s.playfield, tia.myPF);
  visit(s.cosmic_counter, tia.myM0CosmicArkCounter);
  visit(s.collision, tia.myCollision);
  visit(s.player0, tia.myPOSP0);
  visit(s.player1, tia.myPOSP1);
  visit(s.missile0, tia.myPOSM0);
  visit(s.missile1, tia.myPOSM1);
  visit(s.ball, tia.myPOSBL);
  visit(s.enabled, tia.myEnabledObjects);
  visit(s.vsync, tia.myVSYNC);
  visit(s.vblank, tia.myVBLANK);
  visit(s.nusiz0, tia.myNUSIZ0);
  visit(s.nusiz1, tia.myNUSIZ1);
  visit(s.ctrlpf, tia.myCTRLPF);
  visit(s.priority_and_score, tia.myPlayfieldPriorityAndScore);
  visit(s.grp0, tia.myGRP0);
  visit(s.grp1, tia.myGRP1);
  visit(s.dgrp0, tia.myDGRP0);
  visit(s.dgrp1, tia.myDGRP1);
  visit(s.current_grp0, tia.myCurrentGRP0);
  visit(s.current_grp1, tia.myCurrentGRP1);
  visit(s.hmp0, tia.myHMP0);
  visit(s.hmp1, tia.myHMP1);
  visit(s.hmm0, tia.myHMM0);
  visit(s.hmm1, tia.myHMM1);
  visit(s.hmbl, tia.myHMBL);
  visit(s.refp0, tia.myREFP0);
  visit(s.refp1, tia.myREFP1);
  visit(s.enam0, tia.myENAM0);
  visit(s.enam1, tia.myENAM1);
  visit(s.enabl, tia.myENABL);
  visit(s.denabl, tia.myDENABL);
  visit(s.vdelp0, tia.myVDELP0);
  visit(s.vdelp1, tia.myVDELP1);
  visit(s.vdelbl, tia.myVDELBL);
  visit(s.resmp0, tia.myRESMP0);
  visit(s.resmp1, tia.myRESMP1);
  visit(s.dump, tia.myDumpEnabled);
  visit(s.motion_blanks, tia.myHMOVEBlankEnabled);
  visit(s.cosmic, tia.myM0CosmicArkMotionEnabled);
  visit(s.is_partial, tia.myPartialFrameFlag);
  visit(s.is_grey, tia.myFrameGreyed);
}

void TIADebug::save(const TIA &tia, VideoState *s) {
  visit_all(*s, tia, Save());
  s->pixel = s->is_partial ? static_cast<uint32_t>(tia.myFramePointer - tia.myCurrentFrameBuffer) : 0;
  s->player0_mask = static_cast<uint16_t>(tia.myCurrentP0Mask - &TIA::ourPlayerMaskTable[0][0][0][0]);
  s->player1_mask = static_cast<uint16_t>(tia.myCurrentP1Mask - &TIA::ourPlayerMaskTable[0][0][0][0]);
  s->missile0_mask = tia.myCurrentM0Mask == TIA::ourDisabledMaskTable
                         ? kDisabled
                         : static_cast<uint16_t>(tia.myCurrentM0Mask - &TIA::ourMissleMaskTable[0][0][0][0]);
  s->missile1_mask = static_cast<uint16_t>(tia.myCurrentM1Mask - &TIA::ourMissleMaskTable[0][0][0][0]);
  s->ball_mask = static_cast<uint16_t>(tia.myCurrentBLMask - &TIA::ourBallMaskTable[0][0][0]);
  s->is_mirrored = tia.myCurrentPFMask == TIA::ourPlayfieldTable[1];
}

bool TIADebug::is_valid(const TIA &tia, const VideoState &s) {
  /* Indices of tables. */
  const size_t players = sizeof TIA::ourPlayerMaskTable, missiles = sizeof TIA::ourMissleMaskTable;
  const bool has_masks = is_mask(s.player0_mask, players) && is_mask(s.player1_mask, players) &&
                         (s.missile0_mask == kDisabled || is_mask(s.missile0_mask, missiles)) &&
                         is_mask(s.missile1_mask, missiles) && is_mask(s.ball_mask, sizeof TIA::ourBallMaskTable);
  const bool has_columns = is_column(s.player0) && is_column(s.player1) && is_column(s.missile0) &&
                           is_column(s.missile1) && is_column(s.ball);
  const bool has_motions = ((s.hmp0 | s.hmp1 | s.hmm0 | s.hmm1 | s.hmbl) & ~15) == 0;
  const unsigned flags = s.refp0 | s.refp1 | s.enam0 | s.enam1 | s.enabl | s.denabl | s.vdelp0 | s.vdelp1 | s.vdelbl |
                         s.resmp0 | s.resmp1 | s.dump | s.motion_blanks | s.cosmic | s.is_mirrored | s.is_partial |
                         s.is_grey;
  if (!has_masks || !has_columns || !has_motions || flags > 1 || s.enabled >= 64) return false;

  /* The position in a frame that the next call continues; if it starts a frame, that sets its own. From the position to
   * the end of the display, pixels must fit into the buffer. */
  if (s.frame_start <= -kLine || s.frame_start > 0) return false;
  if (!s.is_partial) return s.pixel == 0;
  const int stop = s.frame_start + static_cast<int>(tia.myStopDisplayOffset);
  if (s.left_in_line < 0 || s.left_in_line > kLine) return false;
  if (s.drawn_until < s.frame_start || s.drawn_until > stop) return false;
  const int column = std::max(kLine - s.left_in_line - kBlank, 0) % kColumns;
  const uint32_t lines = static_cast<uint32_t>((stop - s.drawn_until) / kLine + 2);
  return s.pixel < kBuffer && static_cast<int>(s.pixel % kColumns) == column && s.pixel + lines * kColumns <= kBuffer;
}

void TIADebug::restore(TIA &tia, const VideoState &s) {
  visit_all(s, tia, Restore());
  tia.myClockStartDisplay = tia.myClockWhenFrameStarted + static_cast<int>(tia.myStartDisplayOffset);
  tia.myClockStopDisplay = tia.myClockWhenFrameStarted + static_cast<int>(tia.myStopDisplayOffset);
  tia.myFramePointer = tia.myCurrentFrameBuffer + s.pixel;
  tia.myCurrentP0Mask = &TIA::ourPlayerMaskTable[0][0][0][0] + s.player0_mask;
  tia.myCurrentP1Mask = &TIA::ourPlayerMaskTable[0][0][0][0] + s.player1_mask;
  tia.myCurrentM0Mask = s.missile0_mask == kDisabled ? TIA::ourDisabledMaskTable
                                                     : &TIA::ourMissleMaskTable[0][0][0][0] + s.missile0_mask;
  tia.myCurrentM1Mask = &TIA::ourMissleMaskTable[0][0][0][0] + s.missile1_mask;
  tia.myCurrentBLMask = &TIA::ourBallMaskTable[0][0][0] + s.ball_mask;
  tia.myCurrentPFMask = TIA::ourPlayfieldTable[s.is_mirrored];
}

}  // namespace ale::stella
