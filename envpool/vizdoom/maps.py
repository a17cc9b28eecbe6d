"""The maps of EnvPool's scenarios that the vizdoom package lacks: where they are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from envpool._support import fetching, wheels
from envpool.errors import ConfigError

#: The distribution that contains them, on which EnvPool 1.2.5 depends.
DISTRIBUTION, VERSION = "envpool-assets", "0.3.0"
FOLDER = f"{DISTRIBUTION}-{VERSION}"
#: Their folder in its package.
MAPS = "envpool_assets/vizdoom/maps"


def data_folders() -> dict[str, Path]:
    """Return the folders into which ``envpool fetch-vizdoom`` can write, by the values of its option ``--into``."""
    return fetching.data_folders(Path(__file__).parent, FOLDER)


def candidates() -> Iterator[Path]:
    """Yield the folders in which the maps may be: what was fetched, and after that the installed distribution."""
    for folder in data_folders().values():
        yield folder / MAPS
    installed = wheels.find(DISTRIBUTION, MAPS)
    if installed and installed.version == VERSION:
        yield installed.folder


def config_file(scenario: str) -> Path:
    """Return the configuration file of a scenario, which names its maps.

    Raises
    ------
    ConfigError
        The maps are not installed; the error says what to do.
    """
    for folder in candidates():
        path = folder / f"{scenario}.cfg"
        if path.is_file() and path.with_suffix(".wad").is_file():
            return path
    raise ConfigError(
        f"the scenario {scenario!r} is not part of the vizdoom package: run `envpool fetch-vizdoom`, which downloads "
        f"the wheel of {DISTRIBUTION} {VERSION} (62 MB); or pass cfg_path='.../{scenario}.cfg', "
        f"wad_path='.../{scenario}.wad'"
    )
