"""Saved states of MuJoCo's tasks: sizes, forged values, models whose state cannot be saved."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import gymnasium
import mujoco
import numpy as np
import pytest

import envpool
from envpool.errors import StateError
from envpool.pools.states import EnvStates
from tests.support.saved import CORE, body_of, core_at, make, play, sealed

ASSETS = Path(gymnasium.__file__).parent / "envs/mujoco/assets"
HEAD = 48  # bytes before MuJoCo's integration state: two indices, where the camera looks, a digest of the model
KEY = 624 * 4  # bytes of the words of a RandomState


def forged(state: EnvStates, offset: int, value: bytes) -> EnvStates:
    """Return a state with other bytes in the env's own part, counted from its end if `offset` is negative."""
    body = body_of(state)
    at = core_at(state) + CORE.size + offset if offset >= 0 else len(body) + offset
    body[at : at + len(value)] = value
    return sealed(body)


def test_size() -> None:
    with make("Ant-v5") as pool:
        pool.reset()
        assert pool.get_state(0).nbytes <= 16 * 1024


@pytest.mark.parametrize(
    ("task_id", "offset", "value"),
    [
        ("Ant-v5", 0, struct.pack("<i", 1)),  # index of the newest observation of a stack of one
        ("Ant-v5", 0, struct.pack("<i", -1)),
        ("Ant-v5", 4, struct.pack("<i", 2)),
        ("Ant-v5", 8, struct.pack("<i", 7)),
        ("Ant-v5", -16, struct.pack("<Q", 2)),  # an even increment of the generator, whose draws may not end
        ("Ant-v5", -4, struct.pack("<i", 2)),
        ("FetchReach-v4", -8, struct.pack("<d", float("nan"))),  # a goal
        ("PendulumSwingup-v1", -KEY - 16, b"\0" * KEY),  # a generator that yields nothing but zeros
        ("PendulumSwingup-v1", -16, struct.pack("<i", 625)),  # an index of its words
        ("PendulumSwingup-v1", -16, struct.pack("<i", -1)),
        ("PendulumSwingup-v1", -12, struct.pack("<i", 2)),
        ("PendulumSwingup-v1", -8, struct.pack("<d", float("nan"))),
        ("LqrLqr21-v1", -8, struct.pack("<d", float("nan"))),  # the stiffness of a joint
        ("ManipulatorInsertPeg-v1", -8, struct.pack("<d", 1e300)),  # a target that no attempt could avoid
    ],
)
def test_forged_values(task_id: str, offset: int, value: bytes) -> None:
    with make(task_id, seed=3) as pool:
        pool.reset()
        before = pool.get_state()
        with pytest.raises(StateError, match="it has values that get_state"):
            pool.set_state(forged(before[1], offset, value), 1)
        assert pool.get_state() == before
        assert play(pool)


@pytest.mark.parametrize("index", range(12))
def test_forged_paths_of_tendons(index: int) -> None:
    """Frames of Humanoid show two tendons, whose points are found through indices: 2 starts, 2 counts, 8 objects."""
    model = mujoco.MjModel.from_xml_path(str(ASSETS / "humanoid.xml"))
    assert (model.ntendon, model.nwrap) == (2, 4)
    first = HEAD + 8 * mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_INTEGRATION)
    lowest, highest = (0, 2 * model.nwrap) if index < 4 else (-2, model.ngeom - 1)
    with make("Humanoid-v5", seed=3, render_mode="rgb_array", render_height=16, render_width=16) as pool:
        pool.reset()
        state = pool.get_state(1)
        for value in (lowest - 1, highest + 1, 2**31 - 1, -(2**31)):
            with pytest.raises(StateError, match="it has values that get_state"):
                pool.set_state(forged(state, first + 4 * index, struct.pack("<i", value)), 1)
        pool.set_state(forged(state, first + 4 * index, struct.pack("<i", highest)), 1)
        pool.render([1])


def test_non_finite_positions_are_restored() -> None:
    """MuJoCo resets a simulation with such positions itself, so they can be saved."""
    with make("Ant-v5", seed=3) as pool:
        pool.reset()
        state = forged(pool.get_state(1), HEAD + 8, struct.pack("<d", float("nan")))
        pool.set_state(state, 1)
        assert pool.get_state(1) == state
        assert np.isfinite(play(pool, 5)[-1]).all()


def test_states_of_another_file_are_refused(tmp_path: Path) -> None:
    path, text = tmp_path / "own.xml", (ASSETS / "ant.xml").read_text()
    path.write_text(text)
    with envpool.make_gymnasium("Ant-v5", xml_file=str(path)) as pool:
        pool.reset()
        states = pool.get_state()
        path.write_text(text.replace('density="5.0"', 'density="6.0"'))
        pool.set_state(states)
    with envpool.make_gymnasium("Ant-v5", xml_file=str(path)) as pool:
        pool.reset()
        with pytest.raises(StateError, match="the files of its model differ from those of this pool"):
            pool.set_state(states)


def test_models_whose_state_cannot_be_saved(tmp_path: Path) -> None:
    text = (ASSETS / "ant.xml").read_text()
    text, count = re.subn(r"(<option [^>]*)/>", r'\1><flag sleep="enable"/></option>', text)
    assert count == 1
    (tmp_path / "own.xml").write_text(text)
    with envpool.make_gymnasium("Ant-v5", num_envs=2, xml_file=str(tmp_path / "own.xml")) as pool:
        never_reset = pool.get_state()
        pool.reset()
        for call in (pool.get_state, lambda: pool.copy_state([0], [1])):
            with pytest.raises(StateError, match="plug-ins, flexes, delays or sleeping bodies"):
                call()
        pool.set_state(never_reset)
        pool.reset()
