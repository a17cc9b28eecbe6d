"""Upstream runs with MuJoCo's own handlers, which write MUJOCO_LOG.TXT into the working directory."""

import pytest


@pytest.fixture(autouse=True)
def empty_working_directory(tmp_path_factory, monkeypatch):
    """Run each test in an empty folder."""
    monkeypatch.chdir(tmp_path_factory.mktemp("cwd"))
