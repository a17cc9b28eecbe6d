"""Comparing pools with recorded digests of what upstream returned.

``<family>.json`` has one entry for each case of the family with ``is_recorded``, and names what made it: the versions
of the upstream packages and, where results depend on it, the arithmetic of the machine. A test that finds other ones
compares with upstream itself, as all do with ``--upstream``. Not recorded are cases whose upstream

- calls MuJoCo, BLAS or those functions of NumPy whose last bits depend on the CPU;
- draws with Qt, OpenGL or another library that chooses its code by the CPU;
- takes less time than the pool.
"""

from __future__ import annotations

import base64
import hashlib
import json
import platform
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from envpool.verify.records import leaves
from tests.support.oracles.pool_runner import run_pool
from tests.support.oracles.trajectory import Trajectory, compare

FOLDER = Path(__file__).parent
#: Records of all environments that share a digest.
SPAN = 50
#: Bytes of a digest.
SIZE = 4


@dataclass(frozen=True)
class Recorded:
    """How a family is recorded.

    Attributes
    ----------
    packages : sequence of str
        Packages that decide what upstream returns, as pip names them.
    needs_arithmetic : bool
        Whether results depend on `arithmetic`: upstream calls functions such as sin.
    """

    packages: tuple[str, ...]
    needs_arithmetic: bool = False

    def made_by(self) -> dict[str, str]:
        """Return what decides the results here: the installed versions, and the arithmetic if it matters."""
        machine = {"arithmetic": arithmetic()} if self.needs_arithmetic else {}
        return {name: version(name) for name in self.packages} | machine


FAMILIES = {
    "box2d": Recorded(("gymnasium", "numpy", "box2d"), needs_arithmetic=True),
    "classic_control": Recorded(("gymnasium", "numpy"), needs_arithmetic=True),
    "minatar": Recorded(("gymnasium", "numpy", "MinAtar")),
    "minigrid": Recorded(("gymnasium", "numpy", "minigrid")),
    "toy_text": Recorded(("gymnasium", "numpy")),
}


def arithmetic() -> str:
    """Return what decides the last bits of functions such as sin: the C library, and the CPU features it looks for."""
    features = np._core._multiarray_umath.__cpu_features__  # type: ignore[attr-defined]
    found = [name for name in ("X86_V3", "X86_V4") if features.get(name)]
    return " ".join([platform.machine(), *platform.libc_ver(), *found])


# ---- digests ---------------------------------------------------------------------------------------------------------


def plain(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array in the one form of all arrays that `envpool.verify.bits.bits_apart` counts as equal."""
    if array.dtype.kind in "biu":
        is_small = array.size > 0 and array.min() >= 0 and array.max() <= 255
        return array.astype("u1" if is_small else "<i8", copy=False)
    if array.dtype.kind != "f":
        raise TypeError(f"arrays of the type {array.dtype} cannot be recorded")
    little = array.astype(array.dtype.newbyteorder("<"))
    little[np.isnan(little)] = np.nan
    return little


def digest_of(arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    """Return a digest of the bytes, dtypes, shapes and names of arrays."""
    total = hashlib.blake2b(digest_size=SIZE)
    for name, array in sorted(arrays.items()):
        rows = plain(array)
        total.update(f"{name} {rows.dtype.str} {rows.shape}".encode())
        total.update(rows.tobytes())
    return total.hexdigest()


def where_known(trajectory: Trajectory, pattern: str) -> npt.NDArray[np.bool_]:
    """Return in which records upstream gives a value: after steps, after resets, or at the ends of episodes."""
    arrays = trajectory.arrays
    if pattern == "ends":
        return np.asarray(arrays["terminated"] | arrays["truncated"])
    return np.asarray((arrays["elapsed_step"] == 0) == (pattern == "resets"))


def patterns_of(expected: Trajectory) -> dict[str, str]:
    """Return the pattern of `where_known` for each array that lacks values in some records."""
    found = {}
    for name, known in expected.known.items():
        if not known.all():
            fits = [p for p in ("steps", "resets", "ends") if (where_known(expected, p) == known).all()]
            if not fits:
                raise ValueError(f"{name} lacks values in records that are no kind of `where_known`")
            found[name] = fits[0]
    return found


def digests_of(trajectory: Trajectory, names: list[str], patterns: Mapping[str, str]) -> str:
    """Return the digests of some arrays of a trajectory, one for `SPAN` records each."""
    arrays = {name: trajectory.arrays[name] for name in names}
    for name, pattern in patterns.items():
        array = arrays[name].copy()
        array[~where_known(trajectory, pattern)] = 0
        arrays[name] = array
    spans = range(0, trajectory.records, SPAN)
    return "".join(digest_of({name: array[t : t + SPAN] for name, array in arrays.items()}) for t in spans)


# ---- entries ---------------------------------------------------------------------------------------------------------


def pack(actions: npt.NDArray[np.int32]) -> str:
    """Return integer actions as text."""
    return base64.b85encode(zlib.compress(actions.astype(np.uint8).tobytes(), 9)).decode()


def unpack(text: str, case: Any) -> npt.NDArray[np.int32]:
    """Return the actions of a case from text; other ones, if the text belongs to another number of steps."""
    rows = np.frombuffer(zlib.decompress(base64.b85decode(text)), np.uint8)
    return np.resize(rows, (case.steps, case.num_envs)).astype(np.int32)


def inputs_of(case: Any, actions: Any) -> str:
    """Return a digest of the actions and seeds of a case."""
    return digest_of({"seeds": np.array(case.seeds), **dict(leaves(actions, "action"))})


def entry_of(case: Any, actions: Any, expected: Trajectory) -> dict[str, Any]:
    """Return the entry of a case, whose upstream returned a trajectory."""
    names = [name for name in expected.arrays if name not in case.ignored]
    known = {name: pattern for name, pattern in patterns_of(expected).items() if name in names}
    entry = {"arrays": names, "digests": digests_of(expected, names, known), "inputs": inputs_of(case, actions)}
    if known:
        entry["known"] = known
    if case.oracle.actions_of(case) is None:
        entry["actions"] = pack(actions)
    return entry


def path_of(family: str) -> Path:
    """Return the file of a family."""
    return FOLDER / f"{family}.json"


@cache
def read(path: Path) -> dict[str, Any]:
    """Return the content of a file, ``made_by`` and ``cases``; both are empty if there is no file."""
    recorded: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"made_by": {}, "cases": {}}
    return recorded


def write(family: str, cases: Mapping[str, Any]) -> None:
    """Write the file of a family, with a line for each case."""
    rows = [f"  {json.dumps(name)}: {json.dumps(cases[name], sort_keys=True)}" for name in sorted(cases)]
    made_by = json.dumps(FAMILIES[family].made_by())
    path_of(family).write_text(f'{{\n "made_by": {made_by},\n "cases": {{\n' + ",\n".join(rows) + "\n }\n}\n")


# ---- comparison ------------------------------------------------------------------------------------------------------


def differing_records(entry: Mapping[str, Any], actual: Trajectory) -> tuple[int, int] | None:
    """Return the first and the last record of the first digest that differs, or None."""
    missing = [name for name in entry["arrays"] if name not in actual.arrays]
    unexpected = [name for name in actual.arrays if name.startswith("obs") and name not in entry["arrays"]]
    assert not missing and not unexpected, f"the pool lacks {missing}, and upstream {unexpected}"
    found = digests_of(actual, entry["arrays"], entry.get("known", {}))
    for k, t in enumerate(range(0, actual.records, SPAN)):
        at = slice(2 * SIZE * k, 2 * SIZE * (k + 1))
        if found[at] != entry["digests"][at]:
            return t, min(t + SPAN, actual.records) - 1
    return None


def check(case: Any, name: str, with_upstream: bool = False) -> None:
    """Raise AssertionError when a pool returns a bit that upstream does not, or when its digests are out of date.

    Parameters
    ----------
    case : tests.conformance.cases.ExactnessCase
        The case.
    name : str
        The id of its test, which begins with the family.
    with_upstream : bool
        Whether to compare the pool and the digests with upstream, instead of the pool with the digests.
    """
    family = name.partition("-")[0]
    path, renew = path_of(family), f"record it again: python -m tests.golden.make {family}"
    recorded = read(path)
    assert name in recorded["cases"], f"{path} lacks {name}; {renew}"
    entry, made_by, here = recorded["cases"][name], recorded["made_by"], FAMILIES[family].made_by()
    if with_upstream:
        old = [f"{p} {made_by.get(p)}" for p in FAMILIES[family].packages if made_by.get(p) != here[p]]
        assert not old, f"{path} was made by {', '.join(old)}, but others are installed; {renew}"
    if not with_upstream and made_by == here:
        check_pools(case, entry, f"{path}; {renew}")
        return
    actions, seeds, expected = case.oracle.play(case)
    if made_by == here:
        assert entry_of(case, actions, expected) == entry, f"upstream differs from {path} in {name}; {renew}"
    case.oracle.check_pools(case, actions, seeds, expected)


def check_pools(case: Any, entry: Mapping[str, Any], source: str) -> None:
    """Raise AssertionError unless each pool of a case returns what an entry says; `source` ends the texts of errors."""
    actions = unpack(entry["actions"], case) if "actions" in entry else case.oracle.actions_of(case)
    assert entry["inputs"] == inputs_of(case, actions), f"{case} has other actions or seeds than in {source}"
    for run in case.runs:
        actual = run_pool(case.task_id, actions, case.seeds, **case.options, **run)
        for name in case.ignored:
            del actual.arrays[name]
        span = differing_records(entry, actual)
        if span is not None:
            seeds = f"seeds {case.seeds[0]} to {case.seeds[-1]}"
            where = f"{case.task_id} {dict(case.options)} {dict(run)}, {seeds}, records {span[0]} to {span[1]}"
            raise AssertionError(f"{where} {difference(case, actual)} {source}")
        case.oracle.verify(case, actual)


def difference(case: Any, actual: Trajectory) -> str:
    """Return how a pool differs from upstream, which is played now."""
    _, _, expected = case.oracle.play(case)
    for name in case.ignored:
        del expected.arrays[name]
    differences = compare(expected, actual)
    if differences.total:
        return f"differ from upstream ({differences}; the option --upstream compares with upstream itself) and from"
    return "equal upstream, but differ from"
