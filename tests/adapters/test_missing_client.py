"""If a client is missing, its adapter says how to install it; nothing else in envpool needs it."""

import re
import tomllib
from pathlib import Path

import pytest

from tests.support.python import run_python

ROOT = Path(__file__).parents[2]
ADAPTERS = {
    "sb3": "stable_baselines3",
    "rllib": "ray",
    "ray": "ray",
    "pufferlib": "pufferlib",
    "torchrl": "torch",
    "pettingzoo": "pettingzoo",
}


@pytest.mark.parametrize("name", ADAPTERS)
def test_the_error_names_the_extra(name):
    code = f"import sys; sys.modules['{ADAPTERS[name]}'] = None; import envpool.adapters.{name}"
    text = run_python(code).stderr
    assert re.search(rf"ImportError: .*needs {ADAPTERS[name]}.*: pip install 'envpool-cython\[{name}\]'", text), text


def test_every_adapter_has_an_extra():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for name in ADAPTERS:
        assert extras[name]
        folder = ROOT / "envpool" / "adapters"
        assert (folder / f"{name}.py").exists() or (folder / name / "__init__.py").exists()
