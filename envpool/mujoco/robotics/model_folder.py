"""The folder of the models in the installed ``gymnasium_robotics``."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from envpool._support.packages import install
from envpool.mujoco.base.model_files import find_model


def assets() -> Path:
    """Return the folder of the models in the installed wheel, without importing the package.

    Raises
    ------
    ImportError
        ``gymnasium_robotics`` is not installed. The text gives the command that installs it.
    """
    spec = find_spec("gymnasium_robotics")
    places = spec.submodule_search_locations if spec else None
    if not places:
        raise ImportError(
            "the models of the robotics tasks come from gymnasium_robotics, which is not installed; run: "
            + install("robotics")
        )
    return Path(next(iter(places))) / "envs" / "assets"


def model_path(xml_file: str) -> Path:
    """Return the path of a model: in the folder of the wheel, unless the name starts with ``.``, ``/`` or ``~``.

    Raises
    ------
    ConfigError
        The file does not exist.
    """
    return find_model(xml_file, assets(), "a name in the folder of gymnasium_robotics such as 'fetch/reach.xml'")
