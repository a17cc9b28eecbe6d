"""Models of users: the paths that they write, and what their models need in addition to those of this package."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from envpool._support.text import shortened, shown
from envpool.errors import ConfigError
from envpool.mujoco.base.model import Model, import_with_bindings, load_file, register_plugins


def users_path(option: str, name: str) -> Path:
    """Return the path that a user has written, in which ``~`` or ``~name`` stands for a home directory.

    Raises
    ------
    ConfigError
        The home directory is unknown.
    """
    try:
        return Path(name).expanduser()
    except RuntimeError:
        raise ConfigError(
            f"{option} must name a known home directory, got {shown(name)}, but {shortened(Path(name).parts[0])} "
            f"is unknown: write its path instead, or {shortened(f'./{name}')} for a file in the working directory"
        ) from None


def find_model(xml_file: str, folder: Path, others: str) -> Path:
    """Return the path of the option ``xml_file``: in a folder, unless the name starts with ``.``, ``/`` or ``~``.

    Parameters
    ----------
    xml_file : str
        The value of the option.
    folder : Path
        The folder of the models of the task's family.
    others : str
        Names in the folder, in the words of the error.

    Raises
    ------
    ConfigError
        The file does not exist.
    """
    is_path = xml_file.startswith((".", "/", "~"))
    path = users_path("xml_file", xml_file) if is_path else folder / xml_file
    if not os.path.isfile(path):  # unlike Path.is_file(), no error for a name that no file system allows
        here = f"write {shortened(f'./{xml_file}')} for a file in the working directory, or"
        raise ConfigError(
            f"xml_file must name a file, got {shown(xml_file)}, but there is no file {shortened(str(path))}: "
            f"{'correct the path, or write' if is_path else here} {others}"
        )
    return path


def digest_of(path: Path) -> int:
    """Return a digest, below 2**64, of an XML file and, from MuJoCo 3.3.7 on, of the files that it names."""
    mujoco = import_with_bindings("mujoco")
    names = mujoco.mju_getXMLDependencies(str(path)) if hasattr(mujoco, "mju_getXMLDependencies") else [path]
    contents = sorted(hashlib.blake2b(Path(name).read_bytes()).digest() for name in names if os.path.isfile(name))
    return int.from_bytes(hashlib.blake2b(b"".join(contents), digest_size=8).digest(), "little")


def load_users_model(load: Callable[..., Model], *arguments: Any) -> Model:
    """Return ``load(*arguments)``, where `load` is `load_file` or `load_text`, for a model of a user.

    Such a model may need MuJoCo's plugins. Warnings of MuJoCo's compiler become Python warnings. Saved states contain a
    digest of the files.
    """
    register_plugins()
    model = load(*arguments)
    if load is load_file:
        model.digest = digest_of(arguments[0])
    if model.remarks:
        warnings.warn(f"{model.source}: {model.remarks}", stacklevel=3)
    return model
