"""Upstream runs with MuJoCo's own handlers, which write MUJOCO_LOG.TXT into the working directory, and with EGL."""

import os

import pytest

os.environ.setdefault("MUJOCO_GL", "egl")  # upstream chooses when it is imported


@pytest.fixture(autouse=True)
def elsewhere(tmp_path_factory, monkeypatch):
    """Run each test in a folder of its own."""
    monkeypatch.chdir(tmp_path_factory.mktemp("cwd"))
