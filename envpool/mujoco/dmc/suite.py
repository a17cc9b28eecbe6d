"""dm_control's suite, whose modules make the models: the installed one, or what ``envpool fetch-dmc`` downloaded."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from envpool._support import fetching
from envpool._support.packages import install

#: The distribution that the tasks equal.
DISTRIBUTION, VERSION = "dm_control", "1.0.50"
FOLDER = f"{DISTRIBUTION}-{VERSION}"


def data_folders() -> dict[str, Path]:
    """Return the folders into which ``envpool fetch-dmc`` can write, by the values of its option ``--into``."""
    return fetching.data_folders(Path(__file__).parent, FOLDER)


def make_importable() -> None:
    """Add what was fetched to the end of ``sys.path``, unless dm_control is installed."""
    if find_spec(DISTRIBUTION) is None:
        sys.path += [str(folder) for folder in data_folders().values() if (folder / DISTRIBUTION).is_dir()][:1]


def load(module: str) -> ModuleType:
    """Import a module of dm_control without changing MuJoCo's clock.

    Raises
    ------
    ImportError
        dm_control cannot be imported; the text says what to run.
    """
    from envpool.mujoco.base.model import import_with_bindings

    make_importable()
    with warnings.catch_warnings():  # dm_control warns if it cannot open windows
        warnings.simplefilter("ignore")
        try:
            return import_with_bindings(module)
        except Exception:  # also of dm_control's renderer, if the library that MUJOCO_GL names does not work
            try:
                with no_renderer():
                    return import_with_bindings(module)
            except ImportError as error:
                raise ImportError(
                    f"the models of dm_control's tasks come from dm_control, which cannot be imported ({error}); "
                    f"run: {install('dmc')}; with Python 3.13 or later also: envpool fetch-dmc"
                ) from error


@contextmanager
def no_renderer() -> Iterator[None]:
    """Let dm_control, which chooses its own renderer when it is imported, choose none."""
    chosen = os.environ.get("MUJOCO_GL")
    os.environ["MUJOCO_GL"] = "off"
    try:
        yield
    finally:
        if chosen is None:
            del os.environ["MUJOCO_GL"]
        else:
            os.environ["MUJOCO_GL"] = chosen
