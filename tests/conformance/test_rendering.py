"""Frames equal those of upstream environments, and rendering changes no later result."""

from __future__ import annotations

import pytest

from tests.conformance.cases import FrameCase, UndisturbedCase, table
from tests.support.oracles.frames import assert_rendering_changes_nothing


@pytest.mark.parametrize("case", table("FRAMES"))
def test_frames_equal_upstream(case: FrameCase) -> None:
    case.check()


@pytest.mark.parametrize("case", table("UNDISTURBED"))
def test_rendering_changes_nothing(case: UndisturbedCase) -> None:
    assert_rendering_changes_nothing(case.task_id, case.actions, case.steps, **case.options)
