"""Installed packages whose files are used without importing them."""

from __future__ import annotations

from pathlib import Path

import pytest

from envpool._support import wheels

PURPOSE, REMEDY = "the tasks need the library", "pip install 'envpool-cython[thing]'"


def install(folder: Path, version: str = "1.2.0") -> Path:
    """Write a distribution `some-thing` with the package `some_thing`, which must not be imported."""
    package, info = folder / "some_thing", folder / f"some_thing-{version}.dist-info"
    package.mkdir()
    info.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError")
    (package / "library.so").touch()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: some-thing\nVersion: {version}\n")
    return package


def require(*files: str) -> Path:
    return wheels.require("some_thing", "1.2.0", PURPOSE, REMEDY, *files)


def test_a_package_is_found_by_the_name_of_its_distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert wheels.find("some-thing") is None
    package = install(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert wheels.find("some-thing", "some_thing") == wheels.Installed(package, "1.2.0")
    assert require("__init__.py", "library.so") == package


def test_nothing_is_installed() -> None:
    with pytest.raises(ImportError) as error:
        require()
    assert str(error.value) == f"{PURPOSE} of some_thing 1.2.0, but some_thing is not installed: {REMEDY}"


def test_another_version_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "1.10.0")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError) as error:
        require()
    assert str(error.value) == f"{PURPOSE} of some_thing 1.2.0, but some_thing 1.10.0 is installed: {REMEDY}"


def test_a_file_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = install(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError) as error:
        require("library.so", "data/levels")
    assert str(error.value) == (
        f"{PURPOSE} of some_thing 1.2.0, which is installed, but its file {package / 'data' / 'levels'} is missing: "
        "pip install --force-reinstall --no-deps some_thing==1.2.0"
    )
