"""PufferLib puts a link named `resources` into the folder in which it is imported."""

import os
import tempfile

import pytest

here = os.getcwd()
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    import pufferlib.vector  # noqa: F401

    os.chdir(here)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
