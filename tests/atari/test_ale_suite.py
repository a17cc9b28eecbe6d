"""The tests of ale_py's AtariVectorEnv, run on pools."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest

from tests.atari.test_core_memory import build_needs
from tests.clients.suite import run_suite
from tests.support.python import ROOT

GAME_CONTINUES = "with episodic_life, the next episode continues the game, as in EnvPool; ale_py starts a new game"
DEVIATIONS = {
    "test_reset_mask_options[none-ALE/Breakout-v5]": "a mask must have at least one True, as in gymnasium",
    "test_invalid_frameskip": "the errors are those of this package and name the option frame_skip",
    "test_invalid_reset_masks": "async pools take masks; tests/gymnasium_api tests the errors of the others",
    "test_episodic_life_equivalence": GAME_CONTINUES,
    "test_same_step_autoreset_mode": GAME_CONTINUES,
}


@pytest.mark.slow
def test_atari_vector_env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Left out are the files that test ale_py's emulator, its single environment and its functions for JAX."""
    monkeypatch.chdir(ROOT)
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import_module("native_build")
    source = build_needs().ale_source()
    monkeypatch.delitem(sys.modules, "native_build")
    run_suite(
        tmp_path,
        source,
        "tests/python",
        ["test_atari_vector_env.py"],
        "tests.atari.ale_stand_ins",
        deviations=DEVIATIONS,
        left_out={},
    )
