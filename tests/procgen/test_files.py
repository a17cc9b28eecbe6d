"""The files of Procgen: finding, fetching and loading them, and the errors that say what to do."""

from __future__ import annotations

import hashlib
import shutil
import zipfile
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest

import envpool
from envpool._support import wheels
from envpool._support.diagnosis import NOTE, OK, PROBLEM
from envpool.cli.main import main
from envpool.procgen import fetch, files, health
from tests.support.python import run_python

PACKAGE = files.find_files().package
MAKE = "import envpool; envpool.make_gymnasium('CoinrunEasy-v0').reset(); print('works')"


def fake_package(folder: Path, version: str = "0.10.7") -> Path:
    """Write what looks like the files of Procgen, without a library that can be loaded."""
    package = folder / "procgen"
    (package / "data" / "assets").mkdir(parents=True)
    (package / "data" / "prebuilt").mkdir()
    (package / "data" / "prebuilt" / "libenv.so").write_bytes(b"not a library")
    (package / "version.txt").write_text(version)
    return package


@pytest.fixture
def nothing_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide what the user has fetched."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))


@pytest.fixture
def nowhere(nothing_fetched: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Hide everything that is installed, too; return the folder of the user's data."""
    monkeypatch.setattr(wheels, "distribution", lambda name: distribution(f"no-{name}"))
    return tmp_path / "share" / "envpool" / files.FOLDER


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a small wheel that counts as the real one."""
    path = tmp_path / "small.whl"
    package = fake_package(tmp_path / "made")
    with zipfile.ZipFile(path, "w") as archive:
        for file in package.rglob("*"):
            archive.write(file, file.relative_to(package.parent))
    monkeypatch.setattr(fetch, "HASHES", {"3.11": hashlib.sha256(path.read_bytes()).hexdigest()})
    return path


# ---- finding ---------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("nothing_fetched")
def test_an_installed_distribution_is_found_without_importing_it() -> None:
    code = "from envpool.procgen.files import find_files; import sys; f = find_files(); print(f.origin, f.version, "
    code += "'procgen' in sys.modules, f.library.is_file())"
    assert run_python(code).stdout.split() == ["procgen-mirror", "0.10.7", "False", "True"]


def test_no_other_package_is_imported_by_a_pool() -> None:
    code = MAKE + "; import sys; print([m for m in ('procgen', 'gym', 'gym3', 'cffi') if m in sys.modules])"
    assert run_python(code).stdout.splitlines() == ["works", "[]"]


def test_nothing_is_installed(nowhere: Path) -> None:
    with pytest.raises(
        ImportError, match=r"run `envpool fetch-procgen`.*pip install --no-deps procgen-mirror==0\.10\.7"
    ):
        envpool.make_gymnasium("CoinrunEasy-v0")
    assert envpool.make_spec("CoinrunEasy-v0").action_space.n == 15
    (finding,) = health.findings()
    assert (finding.state, finding.text) == (NOTE, "not installed")
    assert "envpool fetch-procgen" in finding.remedy


def test_the_distribution_with_another_qt(nowhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is used if there is nothing else, and doctor says that it draws some pixels differently."""
    package = fake_package(tmp_path / "site")
    (tmp_path / "site" / "procgen-0.10.7.dist-info").mkdir()
    (tmp_path / "site" / "procgen-0.10.7.dist-info" / "METADATA").write_text("Name: procgen\nVersion: 0.10.7\n")
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.setattr(wheels, "distribution", lambda name: distribution(name.replace("-mirror", "-none")))
    assert files.find_files() == files.Files(package, "procgen")
    monkeypatch.setattr(health, "LOAD", "pass")
    (finding,) = health.findings()
    assert finding.state == NOTE and "differ in a few pixels" in finding.text


def test_another_version_is_not_used(nowhere: Path) -> None:
    package = fake_package(nowhere, "0.9.1")
    with pytest.raises(ImportError) as caught:
        files.find_files()
    assert f"{package} has version 0.9.1, not 0.10.7" in str(caught.value)


def test_what_was_fetched_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert files.find_files().origin == "procgen-mirror"
    package = fake_package(tmp_path / "envpool" / files.FOLDER)
    assert files.find_files() == files.Files(package, "fetched")
    shutil.rmtree(package / "data" / "assets")
    assert files.find_files().origin == "procgen-mirror", "incomplete files are passed over"


# ---- loading ---------------------------------------------------------------------------------------------------------


def test_a_broken_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the packages of Debian."""
    fake_package(tmp_path / "envpool" / files.FOLDER)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    done = run_python(MAKE)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: the library of Procgen cannot be loaded (")
    assert "apt-get install libgl1 libglib2.0-0" in last


@pytest.mark.parametrize("name", ["libGL.so.1", "libgthread-2.0.so.0"])
def test_a_missing_system_library(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of the wheel's Qt that needs a library of a name that no system has stands for a system without it."""
    folder = tmp_path / "envpool" / files.FOLDER
    shutil.copytree(PACKAGE / "data" / "prebuilt", folder / "procgen" / "data" / "prebuilt")
    (folder / "procgen" / "data" / "assets").symlink_to(PACKAGE / "data" / "assets")
    (folder / "procgen" / "version.txt").write_text("0.10.7")
    shutil.copytree(PACKAGE.parent / "procgen_mirror.libs", folder / "procgen_mirror.libs")
    absent, count = ("no" + name[2:]).encode(), 0
    for library in (folder / "procgen_mirror.libs").glob("*"):
        data = library.read_bytes()
        if name.encode() + b"\0" in data:
            library.chmod(0o755)
            library.write_bytes(data.replace(name.encode() + b"\0", absent + b"\0"))
            count += 1
    assert count > 0
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    done = run_python(MAKE)
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"ImportError: the library of Procgen cannot be loaded ({absent.decode()}: cannot open")
    assert "apt-get install libgl1 libglib2.0-0" in last


@pytest.mark.usefixtures("nothing_fetched")
def test_doctor(monkeypatch: pytest.MonkeyPatch) -> None:
    (finding,) = health.findings()
    assert finding.state == OK and finding.text.startswith("procgen-mirror 0.10.7, ")
    monkeypatch.setattr(health, "LOAD", "raise ImportError('libGL.so.1: cannot open shared object file')")
    (finding,) = health.findings()
    assert finding.state == PROBLEM and "libGL.so.1" in finding.text
    assert finding.remedy == "apt-get install libgl1 libglib2.0-0"


# ---- fetching --------------------------------------------------------------------------------------------------------


def test_fetching_a_wheel_from_a_file(nowhere: Path, wheel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fetch-procgen", "--wheel", str(wheel)]) == 0
    assert capsys.readouterr().out == f"Procgen is installed in {nowhere}\n"
    assert files.find_files() == files.Files(nowhere / "procgen", "fetched")
    assert [path.name for path in nowhere.parent.iterdir()] == [files.FOLDER], "nothing else is left behind"
    assert main(["fetch-procgen"]) == 0
    assert capsys.readouterr().out == f"Procgen is there already: {nowhere}\n"


def test_a_file_that_is_another_wheel(nowhere: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.whl"
    other.write_bytes(b"PK")
    assert main(["fetch-procgen", "--wheel", str(other)]) == 2
    text = capsys.readouterr().err
    assert f"{other} must be a wheel of procgen-mirror 0.10.7 with SHA-256" in text
    assert main(["fetch-procgen", "--wheel", str(tmp_path / "no.whl")]) == 2
    assert "No such file" in capsys.readouterr().err
    assert not nowhere.exists() and not list(nowhere.parent.iterdir())


def test_what_pip_is_asked_for(nowhere: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One pinned wheel with its hash, whatever the running Python, and no requirements of it."""
    commands: list[list[str]] = []

    def pip(command: list[str], **_: Any) -> Any:
        commands.append(command)
        folder = Path(command[command.index("-d") + 1])
        wanted = Path(command[command.index("-r") + 1]).read_text()
        assert wanted == f"procgen-mirror==0.10.7 --hash=sha256:{fetch.HASHES['3.11']}\n"
        shutil.copy(wheel, folder / "procgen_mirror.whl")
        return type("Done", (), {"returncode": 0})

    monkeypatch.setattr("envpool._support.fetching.subprocess.run", pip)
    assert main(["fetch-procgen"]) == 0
    assert {"--no-deps", "--require-hashes", "--only-binary"} < set(commands[0])
    assert nowhere.is_dir()


def test_pip_fails(nowhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(fetch, "VERSION", "0.0.0")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    assert main(["fetch-procgen"]) == 2
    text = capsys.readouterr().err
    assert "pip could not download procgen-mirror==0.0.0" in text and "pass it with --wheel" in text
    assert not nowhere.exists()


@pytest.mark.parametrize("place", [("Darwin", "arm64"), ("Linux", "aarch64")])
def test_other_machines(
    place: tuple[str, str], nowhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(fetch.platform, "system", lambda: place[0])
    monkeypatch.setattr(fetch.platform, "machine", lambda: place[1])
    assert main(["fetch-procgen"]) == 2
    assert f"for Linux on x86_64 only, and this is {place[0]} on {place[1]}" in capsys.readouterr().err
