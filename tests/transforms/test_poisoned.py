"""A definition around another one fills what the other one must write; nothing else changes."""

import ctypes
from contextlib import ExitStack

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError, UnwrittenRowsError
from envpool.pools.classes import open_pool
from envpool.transforms.poisoned import poisoned
from envpool.verify.rows import POISONS, check_rows, compare_pools
from envpool.verify.rows import compare as compare_results
from tests.support.definitions import Definition, pool_of

Step = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
Write = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


class Batch(ctypes.Structure):
    """The first members of envpool_batch."""

    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("n", ctypes.c_int32),
        ("ids", ctypes.POINTER(ctypes.c_int32)),
        ("reset", ctypes.POINTER(ctypes.c_uint8)),
        ("resets", ctypes.c_void_p),
        ("num_resets", ctypes.c_int32),
        ("contiguous", ctypes.c_int32),
        ("actions", ctypes.c_void_p),
        ("reward", ctypes.POINTER(ctypes.c_float)),
        ("terminated", ctypes.POINTER(ctypes.c_uint8)),
    ]


class Rows(ctypes.Structure):
    """envpool_rows."""

    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("n", ctypes.c_int32),
        ("ids", ctypes.c_void_p),
        ("fields", ctypes.POINTER(ctypes.c_void_p)),
        ("row0", ctypes.c_int64),
    ]


def forgetful_step(original, name):
    """Return a step_many that leaves one array as it was."""
    inner = Step(original)

    def step(state, address):
        batch = Batch.from_address(address)
        array = getattr(batch, name)
        before = array[: batch.n]
        status = inner(state, address)
        for i in range(batch.n):
            if not batch.reset[i]:
                array[i] = before[i]
        return status

    return Step(step)


def forgetful_write(original, size):
    """Return a write_many that leaves the last byte of the rows of field 0 as it was."""
    inner = Write(original)

    def write(state, address):
        rows = Rows.from_address(address)
        last = [rows.fields[0] + (rows.row0 + i + 1) * size - 1 for i in range(rows.n)]
        before = [ctypes.string_at(at, 1) for at in last]
        inner(state, address)
        for at, byte in zip(last, before, strict=True):
            ctypes.memmove(at, byte, 1)

    return Write(write)


def compare(capsule, steps=4):
    """Compare pools of a definition with both poisons."""
    with ExitStack() as stack:
        pools = [stack.enter_context(pool_of(poisoned(capsule, byte), num_envs=3)) for byte in POISONS]
        compare_pools("Some-v0", pools, steps)


def test_a_definition_that_writes_everything_passes():
    made = Definition()
    compare(made.capsule())


@pytest.mark.parametrize("name", ["reward", "terminated"])
def test_a_step_that_leaves_an_outcome_out_is_found(name):
    made = Definition()
    made.env.run_many = None
    step = forgetful_step(made.env.step_many, name)
    made.env.step_many = ctypes.cast(step, ctypes.c_void_p)
    with pytest.raises(UnwrittenRowsError, match=rf"^Some-v0: step 1 of env 0 leaves {name} unwritten: every step"):
        compare(made.capsule())


def test_a_write_that_leaves_elements_out_is_found():
    made = Definition()
    made.env.run_many = None
    field = made.fields[0]
    size = 8 * int(np.prod(field.shape[: field.ndim]))
    write = forgetful_write(made.env.write_many, size)
    made.env.write_many = ctypes.cast(write, ctypes.c_void_p)
    with pytest.raises(UnwrittenRowsError, match=r"the reset of env 0 leaves (elements of )?obs unwritten"):
        compare(made.capsule())


def test_poison_is_nan_or_0xaa():
    """Seen by a write_many that writes nothing."""
    made = Definition()
    made.env.run_many = None
    write = Write(lambda state, rows: None)
    made.env.write_many = ctypes.cast(write, ctypes.c_void_p)
    made.fields[0].dtype, made.fields[0].ndim = 5, 0  # float32
    with pool_of(poisoned(made.capsule()), num_envs=2) as pool:
        obs, info = pool.reset()
    assert np.isnan(obs).all()
    (other,) = (v for k, v in info.items() if k not in ("env_id", "players", "elapsed_step"))
    assert set(other.tobytes()) == {0xAA}


@pytest.mark.parametrize("task", ["CartPole-v1", "FrozenLake-v1", "Ant-v5", "Pong-v5", "MPE/simple_tag-v3"])
def test_tasks_write_everything(task):
    check_rows(task, steps=30)


@pytest.mark.parametrize(
    "options",
    [
        {"seed": None},
        {"seed": [1, 2, 3]},
        {"episode_statistics": True},
        {"batch_size": 2},
        {"on_error": "restart"},
        {"length": [0.5, 0.4, 0.3]},
    ],
)
def test_rows_are_compared_under_any_options(options):
    check_rows("CartPole-v1", steps=30, **options)


def test_texts_of_failed_environments_are_compared():
    errors = [{"info:error": np.array([None, text], object)} for text in ("a", "a", "b")]
    compare_results("Task-v0", errors[:2], 1)
    with pytest.raises(UnwrittenRowsError, match=r"step 1 of env 1 leaves info:error"):
        compare_results("Task-v0", errors[1:], 1)


@pytest.mark.parametrize(("steps", "error"), [(0, ConfigError), (-1, ConfigError), ("a", TypeError)])
def test_rows_need_a_step(steps, error):
    with pytest.raises(error, match="steps must be"):
        check_rows("CartPole-v1", steps=steps)


def test_everything_else_is_passed_on():
    """States and parameters are those of the definition itself."""
    params, states = [], []
    for is_poisoned in (False, True):
        spec = envpool.make_spec("Pendulum-v1", num_envs=2)
        if is_poisoned:
            spec.capsule = poisoned(spec.capsule)
        with open_pool(spec, None) as pool:
            pool.set_params({"g": [9.0, 11.0]})
            pool.reset()
            saved = pool.get_state()
            first = pool.step(np.zeros((2, 1), np.float32))[0].tobytes()
            pool.set_state(saved)
            assert pool.step(np.zeros((2, 1), np.float32))[0].tobytes() == first
            states.append(first)
            params.append(pool.get_params()["g"].tolist())
    assert states[0] == states[1] and params == [[9.0, 11.0]] * 2
