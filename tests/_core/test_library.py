"""The compiled modules of the core are in one shared library."""

import importlib
from importlib.util import find_spec
from pathlib import Path

import pytest

import envpool._core.pool

FOLDER = Path(envpool._core.__file__).parent
# Not from the sources, which a wheel does not have.
MODULES = [*sorted(path.stem for path in FOLDER.glob("*.pyi")), "_cython", "scheduler", "execute"]


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_in_the_library(name):
    module = importlib.import_module(f"envpool._core.{name}")
    assert module.__name__ == f"envpool._core.{name}" and module.__package__ == "envpool._core"
    assert Path(module.__file__) == Path(envpool._core.pool.__file__)


def test_a_module_that_does_not_exist():
    with pytest.raises(ImportError, match="nothing"):
        importlib.import_module("envpool._core.nothing")


def test_other_packages_are_found_as_before():
    assert find_spec("envpool.rollout.recorder").origin != envpool._core.pool.__file__
    assert find_spec("envpool._core_of_another_package") is None
