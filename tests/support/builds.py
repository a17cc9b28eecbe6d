"""Building extensions in tests."""

import atexit
import functools
import importlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.python import environment


def build_extension(source, folder, python=sys.executable, env=None):
    """Build a copy of a folder with a setup.py, and return the folder that holds the built modules.

    Parameters
    ----------
    source : Path
        Folder with setup.py.
    folder : str or Path
        Empty folder to work in.
    python : str
        The interpreter; its envpool is the one built against.
    env : dict, optional
        The environment; by default this one, with this envpool. CFLAGS and LDFLAGS are honoured.
    """
    folder = Path(folder).resolve()
    copy, built = folder / "source", folder / "built"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("build", "*.so", "*.egg-info", "__pycache__"))
    done = subprocess.run(
        [python, "setup.py", "build", f"--build-base={folder}/temp", f"--build-lib={built}"],
        cwd=copy,
        env=environment() if env is None else env,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"{source} did not build:\n{done.stdout}\n{done.stderr}")
    return built


@functools.cache
def load_hook(folder, name):
    """Return a module that makes internals of envpool callable from Python, built on first use in a temporary folder.

    Parameters
    ----------
    folder : Path
        Folder with a setup.py that builds the module.
    name : str
        Name of the module.
    """
    built = tempfile.mkdtemp(prefix="envpool-hook-")
    atexit.register(shutil.rmtree, built, ignore_errors=True)
    sys.path.insert(0, str(build_extension(folder, built)))
    return importlib.import_module(name)
