"""Importing an example as if it ran as a script, with its folder on the path."""

import importlib
import sys
from pathlib import Path

FOLDER = str(Path(__file__).parents[2] / "examples")


def load(name):
    """Return the module examples/<name>.py."""
    if FOLDER not in sys.path:
        sys.path.append(FOLDER)
    return importlib.import_module(name)


def assert_learns(name, target, tmp_path, capsys):
    """Run an example until it reaches a target, and check its output; the example exits if it does not."""
    curve = tmp_path / "curve.png"
    load(name).main(["--target", str(target), "--plot", str(curve)])
    assert "on CartPole-v1: mean return " in capsys.readouterr().out
    assert curve.read_bytes().startswith(b"\x89PNG")
