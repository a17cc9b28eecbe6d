"""The maps of D1 to D4, which ``envpool fetch-vizdoom`` downloads."""

from __future__ import annotations

import hashlib
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

import envpool
from envpool._support import wheels
from envpool.cli.main import main
from envpool.errors import ConfigError
from envpool.vizdoom import fetch, maps
from envpool.vizdoom.registration import ELSEWHERE
from envpool.vizdoom.wheel import package_folder

TASK_IDS = ["D1Basic-v1", "D2Navigation-v1", "D3Battle-v1", "D4Battle2-v1"]


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Hide what is installed; return the folder into which the command writes."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.setattr(wheels, "distribution", lambda name: distribution(name.replace("envpool-assets", "no-assets")))
    return tmp_path / "share" / "envpool" / maps.FOLDER


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a small wheel that counts as the real one; scenarios of the vizdoom package stand for its maps."""
    path, scenarios = tmp_path / "small.whl", package_folder() / "scenarios"
    with zipfile.ZipFile(path, "w") as archive:
        for scenario in ELSEWHERE:
            text = (scenarios / "my_way_home.cfg").read_text().replace("my_way_home.wad", f"{scenario}.wad")
            archive.writestr(f"{maps.MAPS}/{scenario}.cfg", text)
            archive.write(scenarios / "my_way_home.wad", f"{maps.MAPS}/{scenario}.wad")
        archive.writestr(f"{maps.MAPS}/basic.cfg", "")
        archive.writestr("envpool_assets/atari/roms/pong.bin", "")
    monkeypatch.setattr(fetch, "HASH", hashlib.sha256(path.read_bytes()).hexdigest())
    return path


def test_fetching(nowhere: Path, wheel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fetch-vizdoom", "--wheel", str(wheel)]) == 0
    assert capsys.readouterr().out == f"The maps of D1 to D4 are installed in {nowhere}\n"
    found = {path.relative_to(nowhere / maps.MAPS).name for path in nowhere.rglob("*") if path.is_file()}
    assert found == {f"{scenario}.{ending}" for scenario in ELSEWHERE for ending in ("cfg", "wad")}
    assert [path.name for path in nowhere.parent.iterdir()] == [maps.FOLDER], "nothing else is left behind"
    for task_id in TASK_IDS:
        assert envpool.make_spec(task_id).action_space.shape == (5,)
    with envpool.make_gymnasium(TASK_IDS[0]) as pool:
        assert pool.reset()[0].any()
    assert main(["fetch-vizdoom"]) == 0
    assert capsys.readouterr().out == f"The maps of D1 to D4 are there already: {nowhere}\n"


def test_another_wheel(nowhere: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "other.whl").write_bytes(b"PK")
    assert main(["fetch-vizdoom", "--wheel", str(tmp_path / "other.whl")]) == 2
    assert "other.whl must be a wheel of envpool-assets 0.3.0 with SHA-256" in capsys.readouterr().err
    assert not list(nowhere.parent.iterdir())


def test_an_installed_distribution(nowhere: Path, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site"
    info = site / "envpool_assets-0.3.0.dist-info"
    info.mkdir(parents=True)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    monkeypatch.syspath_prepend(site)
    monkeypatch.setattr(wheels, "distribution", distribution)
    for version, is_used in (("0.2.0", False), ("0.3.0", True)):
        (info / "METADATA").write_text(f"Name: envpool-assets\nVersion: {version}\n")
        if is_used:
            assert maps.config_file("D1_basic") == site / maps.MAPS / "D1_basic.cfg"
        else:
            with pytest.raises(ConfigError, match="run `envpool fetch-vizdoom`"):
                maps.config_file("D1_basic")


def test_incomplete_maps_are_passed_over(nowhere: Path, wheel: Path) -> None:
    assert main(["fetch-vizdoom", "--wheel", str(wheel)]) == 0
    (nowhere / maps.MAPS / "D1_basic.wad").unlink()
    with pytest.raises(ConfigError, match=r"'D1_basic' is not part of .* run `envpool fetch-vizdoom`"):
        envpool.make_spec("D1Basic-v1")
