"""Files of episodes: compressed NumPy archives, HDF5, and Minari's format."""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from envpool._support.files import check_output, replaced
from envpool._support.packages import install
from envpool.errors import ConfigError
from envpool.evaluation.episodes import MASK, PLAYER_ENDS, Array, Episode, stacks
from envpool.evaluation.pools import normalizers
from envpool.python_envs.layout import children
from envpool.rollout.replay_files import DAMAGES

HDF5 = (".h5", ".hdf5")
#: Version of the layout of .npz and .hdf5 files.
VERSION = 2
#: The fastest level: higher ones take several times as long, and save little.
LEVEL = 1
#: How HDF5 arrays are compressed.
COMPRESSION = {"compression": "gzip", "compression_opts": LEVEL, "shuffle": True}
#: Bytes of a chunk of an HDF5 array, and of the episodes that are written together.
CHUNK = 1 << 20
BATCH = 1 << 24
#: The version of Minari whose format is written.
MINARI = "0.5.0"
MINARI_ID = re.compile(r"[-_\w]+-v\d+")


#: Keys of `about` for the normalisation of a pool.
NORMALIZATION = ("normalization", "normalize_obs", "normalize_reward")


class Writer(Protocol):
    """A file of episodes."""

    def add(self, episode: Episode) -> None:
        """Append an episode."""


def check_dataset(path: Path) -> None:
    """Raise ConfigError or ImportError if a dataset could not be written: the path says which format it has."""
    if path.suffix == ".npz":
        check_output(path, is_replaced=True)
        return
    if path.suffix in HDF5:
        check_output(path)
    elif path.suffix:
        raise ConfigError(
            f"path must end in .mp4 or .gif (a video), .npz, {' or '.join(HDF5)} (a dataset), or be a folder such as "
            f"cartpole-expert-v0 (a dataset of Minari), got {str(path)!r}"
        )
    elif not MINARI_ID.fullmatch(path.name):
        raise ConfigError(
            f"the name of a dataset of Minari must end in its version, such as {path.name or 'cartpole'}-v0, got "
            f"{path.name!r}; files end in .mp4, .gif, .npz, {' or '.join(HDF5)}"
        )
    elif path.exists():
        raise ConfigError(f"the dataset {path} exists: remove it, or choose another version")
    try:
        import h5py  # noqa: F401
    except ImportError as error:
        raise ImportError(f"{path.suffix or 'Minari'} datasets need h5py: {install('datasets')}") from error


def about_normalization(pool: Any) -> dict[str, Any]:
    """Return the attributes of a dataset that say how a pool normalises: the statistics, and the parameters.

    The discounted sums are left out, since they belong to the episodes that are running.
    """
    if pool.normalization is None:
        return {}
    values = {name: array.tolist() for name, array in pool.normalization.get().items()}
    values.pop("reward.discounted", None)
    return {"normalization": values} | normalizers(pool)


@contextmanager
def open_dataset(path: Path, about: dict[str, Any], pool: Any) -> Iterator[Writer]:
    """Open the writer for a path that `check_dataset` has accepted, and complete the file at the end of the block.

    If an exception leaves the block, no .npz file is written, and other datasets have the episodes added so far, or are
    not written if there are none.

    Parameters
    ----------
    path : Path
        The file or folder.
    about : dict
        Attributes of the dataset.
    pool : EnvPool
        The pool, for its spaces.
    """
    if path.suffix == ".npz":
        archive = ArchiveWriter(path, about)
        yield archive
        archive.write()
        return
    with closing(Hdf5Writer(path, about) if path.suffix in HDF5 else MinariWriter(path, about, pool)) as writer:
        yield writer


def table(episodes: Sequence[Episode]) -> dict[str, Array]:
    """Return the arrays with one entry per episode."""
    lengths = np.array([len(episode) for episode in episodes], np.int64)
    return {
        "starts": np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        "env_id": np.array([episode.env_id for episode in episodes], np.int64),
        "number": np.array([episode.number for episode in episodes], np.int64),
        "return": np.array([episode.reward.sum(dtype=np.float64) for episode in episodes]),
        "length": lengths,
        **of_players(episodes),
    }


def of_players(episodes: Sequence[Episode]) -> dict[str, Array]:
    """Return the arrays that a task with players has in addition."""
    if episodes[0].reward.ndim == 1:
        return {}
    return {"player_return": np.array([episode.reward.sum(axis=0, dtype=np.float64) for episode in episodes])}


def columns(episode: Episode) -> dict[str, Array]:
    """Return the arrays of an episode over time."""
    own = {"reward": episode.reward, "terminated": episode.terminated, "truncated": episode.truncated}
    return {**episode.obs, **episode.action, **own, **episode.players}


class ArchiveWriter:
    """A compressed .npz file, which ``numpy.load`` reads. The episodes stay in memory until it is written.

    Parameters
    ----------
    path : Path
        The file.
    about : dict
        Attributes of the dataset, stored as JSON under "about".
    """

    def __init__(self, path: Path, about: dict[str, Any]):
        self._path, self._about = path, about
        self._episodes: list[Episode] = []

    def add(self, episode: Episode) -> None:
        """Append an episode."""
        self._episodes.append(episode)

    def write(self) -> None:
        """Write the file, one array after the other, so that no second copy of the whole dataset is in memory."""
        about = np.array(json.dumps(self._about))
        with (
            replaced(self._path) as file,
            zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive,
        ):
            for name, array in {"about": about, **table(self._episodes)}.items():
                self._write(archive, name, array)
            arrays = [columns(episode) for episode in self._episodes]
            for name in arrays[0]:
                self._write(archive, name, np.concatenate([of_episode[name] for of_episode in arrays]))

    def _write(self, archive: zipfile.ZipFile, name: str, array: Array) -> None:
        with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
            np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)


class Hdf5Writer:
    """An HDF5 file with compressed arrays, to which episodes are written while others are played.

    Parameters
    ----------
    path : Path
        The file. If it exists, it is replaced when the first episodes are written.
    about : dict
        Attributes of the dataset, stored as JSON in the attribute "about".
    """

    def __init__(self, path: Path, about: dict[str, Any]):
        self._path, self._about = path, about
        self._file: Any = None
        self._episodes: list[Episode] = []
        self._waiting: list[dict[str, Array]] = []  # written together: each write compresses a chunk that is not full
        self._bytes = 0

    def add(self, episode: Episode) -> None:
        """Append an episode."""
        arrays = columns(episode)
        self._waiting.append(arrays)
        self._bytes += sum(array.nbytes for array in arrays.values())
        self._episodes.append(replace(episode, obs={}, action={}))
        if self._bytes >= BATCH:
            self._write()

    def _write(self) -> None:
        """Write the episodes that wait, the first ones to a new file."""
        import h5py

        if self._file is None:
            self._file = h5py.File(self._path, "w")
            self._file.attrs["about"] = json.dumps(self._about)
        for original in self._waiting[0]:
            array, name = np.concatenate([arrays[original] for arrays in self._waiting]), escaped(original)
            if name not in self._file:
                shape = array.shape[1:]
                rows = max(min(CHUNK // max(array[:1].nbytes, 1), 1 << 14), 1)
                self._file.create_dataset(
                    name, (0, *shape), array.dtype, maxshape=(None, *shape), chunks=(rows, *shape), **COMPRESSION
                )
            data = self._file[name]
            data.resize(len(data) + len(array), axis=0)
            data[-len(array) :] = array
        self._waiting.clear()
        self._bytes = 0

    def close(self) -> None:
        """Complete the file; without an episode, leave it unchanged."""
        try:
            if self._waiting:
                self._write()
            if self._episodes:
                for name, array in table(self._episodes).items():
                    self._file.create_dataset(name, data=array)
        finally:
            if self._file is not None:
                self._file.close()


def escaped(name: str) -> str:
    """Return the name of an HDF5 array, in which a slash would stand for a group; `unescaped` is the inverse."""
    return re.sub(r"%(?=(25)*2F)", "%25", name).replace("/", "%2F")


def unescaped(name: str) -> str:
    """Return the name of an array from its name in an HDF5 file."""
    return re.sub(r"%2F|%25(?=(25)*2F)", lambda found: "/" if found[0] == "%2F" else "%", name)


class MinariWriter:
    """A folder in the format of Minari, which ``minari.load_dataset`` and ``minari.MinariDataset`` read.

    Parameters
    ----------
    path : Path
        The folder, whose name is the id of the dataset. It is made for the first episode, with a folder `data`.
    about : dict
        Attributes of the dataset.
    pool : EnvPool
        The pool, for its spaces.
    """

    def __init__(self, path: Path, about: dict[str, Any], pool: Any):
        self._spaces = pool.spec.gymnasium_observation_space, action_space_of(pool)
        described = [json.dumps(describe_space(space)) for space in self._spaces]
        self._folder = path / "data"
        self._file: Any = None
        self._steps = self._count = 0
        self._metadata = {
            "data_format": "hdf5",
            "jpeg_encoding": False,  # frames keep their bits
            "observation_space": described[0],
            "action_space": described[1],
            "dataset_id": path.name,
            "minari_version": MINARI,
            "algorithm_name": str(about["policy"]),
            "requirements": [],
            "description": f"{about['task']}, recorded by envpool {about['envpool']}",
            **{name: about[name] for name in NORMALIZATION if name in about},
        }

    def add(self, episode: Episode) -> None:
        """Append an episode."""
        import h5py

        if self._file is None:
            self._folder.mkdir(parents=True)
            self._file = h5py.File(self._folder / "main_data.hdf5", "w", track_order=True)
        group = self._file.create_group(f"episode_{self._count}")
        group.attrs["id"] = self._count
        group.attrs["total_steps"] = len(episode)
        if episode.seed is not None:
            group.attrs["seed"] = episode.seed
        for name, prefix, arrays, space in (
            ("observations", "obs", episode.obs, self._spaces[0]),
            ("actions", "action", episode.action, self._spaces[1]),
        ):
            write_nest(group, name, arrays, prefix, (), space)
        for name, array in (
            ("rewards", episode.reward),
            ("terminations", episode.terminated),
            ("truncations", episode.truncated),
        ):
            write(group, name, array)
        self._count += 1
        self._steps += len(episode)

    def close(self) -> None:
        """Complete the folder, if there is an episode."""
        if self._file is None:
            return
        self._file.close()
        size = round((self._folder / "main_data.hdf5").stat().st_size / 1e6, 1)
        totals = {"total_episodes": self._count, "total_steps": self._steps, "dataset_size": size}
        (self._folder / "metadata.json").write_text(json.dumps(self._metadata | totals))


def write(group: Any, name: str, array: Array) -> None:
    """Write an array over time to a group, compressed if this can help."""
    options = COMPRESSION if array.nbytes >= 1 << 12 else {}
    group.create_dataset(name, data=array, chunks=True, maxshape=(None, *array.shape[1:]), **options)


def write_nest(group: Any, name: str, arrays: dict[str, Array], prefix: str, path: tuple[str, ...], space: Any) -> None:
    """Write the arrays of a space: groups for Dict, and groups with the keys ``_index_0``, ... for Tuple."""
    from gymnasium import spaces

    if isinstance(space, (spaces.Dict, spaces.Tuple)):
        inner = group.create_group(name)
        for key, part in children(space):
            label = key if isinstance(space, spaces.Dict) else f"_index_{key}"
            write_nest(inner, str(label), arrays, prefix, (*path, str(key)), part)
        return
    write(group, name, arrays[f"{prefix}:{'.'.join(path)}" if path else prefix])


def action_space_of(pool: Any) -> Any:
    """Return the action space of one environment without the env ids that structured actions have."""
    from gymnasium import spaces

    space = pool.spec.gymnasium_action_space
    if not isinstance(space, spaces.Dict):
        return space
    return spaces.Dict({k: v for k, v in space.spaces.items() if k not in ("env_id", "players")})


def describe_space(space: Any) -> dict[str, Any]:
    """Return a space in the form of Minari's metadata, or raise ConfigError."""
    from gymnasium import spaces

    if isinstance(space, spaces.Box):
        bounds = {"low": space.low.tolist(), "high": space.high.tolist()}
        return {"type": "Box", "dtype": str(space.dtype), "shape": list(space.shape), **bounds}
    if isinstance(space, spaces.Discrete):
        return {"type": "Discrete", "dtype": "int64", "start": int(space.start), "n": int(space.n)}
    if isinstance(space, spaces.MultiDiscrete):
        parts = {"nvec": space.nvec.tolist(), "start": space.start.tolist()}
        return {"type": "MultiDiscrete", "dtype": str(space.dtype), **parts}
    if isinstance(space, spaces.MultiBinary):
        return {"type": "MultiBinary", "n": space.n if isinstance(space.n, int) else [int(n) for n in space.n]}
    if isinstance(space, spaces.Dict):
        for key in space.spaces:
            if "/" in key or key == ".":
                raise ConfigError(
                    f"keys of spaces must not be '.' or contain '/' in Minari's format, got {key!r}: write an .npz or "
                    ".hdf5 file"
                )
        return {"type": "Dict", "subspaces": {key: describe_space(part) for key, part in space.spaces.items()}}
    if isinstance(space, spaces.Tuple):
        return {"type": "Tuple", "subspaces": [describe_space(part) for part in space.spaces]}
    raise ConfigError(f"Minari's format has no {type(space).__name__} spaces: write an .npz or .hdf5 file")


def read_episodes(path: str | Path) -> Iterator[Episode]:
    """Yield the episodes of an .npz or .hdf5 file that ``envpool.record`` has written, in the order of the file.

    Parameters
    ----------
    path : path
        The file.

    Yields
    ------
    Episode
        Its observations are complete, also if their frames were stored once.

    Raises
    ------
    ConfigError
        The file is not such a dataset, or it is damaged.
    ImportError
        The file needs h5py.
    """
    path = Path(path)
    with damages_named(path):
        yield from episodes_of(path)


def read_normalization(path: str | Path) -> dict[str, Array] | None:
    """Return the statistics with which the pool of an .npz or .hdf5 file normalised its observations and rewards.

    Parameters
    ----------
    path : path
        A file that ``envpool.record`` has written.

    Returns
    -------
    dict of str to numpy.ndarray, or None
        The argument of ``pool.normalization.set``, in float64; None if the pool did not normalise.

    Raises
    ------
    ConfigError
        The file is not such a dataset, or it is damaged.
    ImportError
        The file needs h5py.
    """
    path = Path(path)
    with damages_named(path):
        values = about_of(path).get("normalization")
        return None if values is None else {name: np.array(value, np.float64) for name, value in dict(values).items()}


@contextmanager
def damages_named(path: Path) -> Iterator[None]:
    """Raise ConfigError if a path is not the path of a dataset, or if the block finds that the file is damaged."""
    if path.suffix in HDF5:
        check_h5py(path)
    elif path.suffix != ".npz":
        raise ConfigError(f"path must end in .npz, {' or '.join(HDF5)}, got {str(path)!r}")
    try:
        yield
    except (*DAMAGES, OSError, LookupError, TypeError, zlib.error) as error:
        if isinstance(error, OSError) and error.errno is not None:  # h5py's errors of damaged files have none
            raise
        raise ConfigError(
            f"path must be a dataset that envpool.record has written, got {str(path)!r}, which is another file, or is "
            f"damaged: {error}"
        ) from error


def episodes_of(path: Path) -> Iterator[Episode]:
    """Yield the episodes of a file; one that is damaged raises any exception."""
    if path.suffix == ".npz":
        with np.load(path) as file:
            yield from split({name: file[name] for name in file.files}, attributes(str(file["about"])))
        return
    import h5py

    with h5py.File(path) as file:
        yield from split({unescaped(name): file[name] for name in file}, attributes(file.attrs["about"]))


def about_of(path: Path) -> dict[str, Any]:
    """Return the attributes of a file; one that is damaged raises any exception."""
    if path.suffix == ".npz":
        with np.load(path) as file:
            return attributes(str(file["about"]))
    import h5py

    with h5py.File(path) as file:
        return attributes(file.attrs["about"])


def attributes(text: str) -> dict[str, Any]:
    """Return the attributes that are stored as JSON, or raise ConfigError if the layout has another version."""
    about: dict[str, Any] = json.loads(text)
    if about["version"] != VERSION:
        raise ConfigError(f"the version of its layout must be {VERSION}, got {about['version']}")
    return about


def check_h5py(path: Path) -> None:
    """Raise ImportError with the command that installs h5py if it is missing."""
    try:
        import h5py  # noqa: F401
    except ImportError as error:
        raise ImportError(f"{path.suffix} datasets need h5py: {install('datasets')}") from error


def split(arrays: Any, about: dict[str, Any]) -> Iterator[Episode]:
    """Yield the episodes of the arrays of a file."""
    depth, starts = int(about["frames_once"]), np.asarray(arrays["starts"])
    obs = [name for name in arrays if name == "obs" or name.startswith("obs:")]
    actions = [name for name in arrays if name == "action" or name.startswith("action:")]
    seeds = about["seeds"]
    for e, (env_id, number) in enumerate(zip(arrays["env_id"], arrays["number"], strict=True)):
        rows = slice(int(starts[e]), int(starts[e + 1]))
        extra = max(depth, 1)  # observations, or frames, of an episode beyond its steps
        seen = slice(rows.start + e * extra, rows.stop + (e + 1) * extra)
        own = {name: np.asarray(arrays[name][seen]) for name in obs}
        players = {name: np.asarray(arrays[name][rows]) for name in PLAYER_ENDS if name in arrays}
        if MASK in arrays:
            players[MASK] = np.asarray(arrays[MASK][seen])
        yield Episode(
            int(env_id),
            int(number),
            seeds[int(env_id)] if seeds is not None and number == 0 else None,
            {name: stacks(array, depth, about["stack"]) for name, array in own.items()} if depth else own,
            {name: np.asarray(arrays[name][rows]) for name in actions},
            np.asarray(arrays["reward"][rows]),
            np.asarray(arrays["terminated"][rows]),
            np.asarray(arrays["truncated"][rows]),
            players,
        )
