"""The faster core under AddressSanitizer and UndefinedBehaviorSanitizer, which end the program at the first report."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from envpool.registration import make_spec
from tests.atari.cases import QUIRKS
from tests.support.python import ROOT

#: One game for each kind of cartridge, and one that waits for the timer in the part of an E0 cartridge that switches
#: banks, where the bytes of an instruction are fetched one by one.
GAMES = [*(make_spec(task_id).config.task for task_id, *_ in QUIRKS), "tutankham"]
FLAGS = ("-O1", "-g", "-fwrapv", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def build_needs() -> ModuleType:
    """Return the module that builds the core."""
    spec = spec_from_file_location("atari_build_needs", ROOT / "envpool/atari/build_needs.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_games_of_all_cartridges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ALE's own code is compiled as always; the program of the training run plays."""
    monkeypatch.chdir(ROOT)
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    native_build, needs = import_module("native_build"), build_needs()
    monkeypatch.delitem(sys.modules, "native_build")
    ale, includes, roms = needs.ale_library(native_build.Build("release", Path("build/release"), (), False))
    build = native_build.Build("asan", tmp_path, FLAGS, False)
    flags = needs.core_flags(build, includes)
    sources, headers = needs.files_of(needs.HERE / "core")
    core = native_build.static_library(build, "atari_core", sources, [], flags, headers)
    needs.play(core, ale, flags, [roms / f"{game}.bin" for game in GAMES])
