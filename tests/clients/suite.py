"""Runs tests that a library ships in its source distribution, with classes of this package in the place of its own."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

#: Written beside the tests: each test that deviates must fail, so that a reason that no longer holds is noticed.
CONFTEST = """
import pytest

def pytest_collection_modifyitems(items):
    left = dict({expected!r})
    for item in items:
        for name in [name for name in left if item.name == name or item.name.startswith(name + "[")]:
            item.add_marker(pytest.mark.xfail(reason=left[name], strict=True))
"""


def sdist(requirement, sha256):
    """Return the folder of a pinned source distribution; see ``scripts/native_build.py``."""
    sys.path.insert(0, str(ROOT / "scripts"))
    from native_build import fetch_sdist

    os.chdir(ROOT)  # fetch_sdist keeps its archives in the tree
    return fetch_sdist(requirement, sha256, "--no-build-isolation")


def run_suite(folder, source, where, files, plugin, *, deviations, left_out):
    """Run some of a library's test files with pytest, in another process, and expect that they pass.

    Parameters
    ----------
    folder : Path
        An empty folder, for a copy of the tests.
    source : Path
        The folder of the source distribution.
    where : str
        The folder of the tests, relative to `source`. It is copied to the same place below `folder`.
    files : sequence of str
        The test files, relative to `where`.
    plugin : str
        A plug-in of pytest that puts our classes in the place of the library's: the only adaptation.
    deviations : dict of str to str
        Names of tests that fail with our classes, and why.
    left_out : dict of str to str
        Tests that are not run, as ``"file::name"``, and why.
    """
    shutil.copytree(source / where, folder / where)
    (folder / where / "conftest.py").write_text(CONFTEST.format(expected=deviations))
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-rfEX",
        "--tb=short",
        "-W",
        "ignore",
        "-p",
        plugin,
        "-p",
        "no:cacheprovider",
    ]
    command += [word for name in left_out for word in ("--deselect", f"{where}/{name}")]
    done = subprocess.run(
        [*command, *(f"{where}/{file}" for file in files)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 0
