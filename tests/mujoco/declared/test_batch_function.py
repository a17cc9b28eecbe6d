"""The Python function that completes the steps of a declared task."""

import pickle
import threading
import traceback

import numpy as np
import pytest

import envpool
from envpool._core import engine
from envpool.mujoco import declared as d
from tests.mujoco.declared.models import ARM
from tests.support.process import wait_until, workers
from tests.support.python import output_of

X, TIP = d.Qpos(), d.SitePosition("tip")
INPUTS = {"angle": X[0], "tip": TIP}


def shape(angle, tip):
    """Return a bonus for a high tip, the end of an episode, and two parts of the observation."""
    assert angle.shape == (len(tip),) and tip.shape[1:] == (3,)
    return {"reward": 0.1 * tip[:, 2], "terminated": angle > 0.4, "double": 2 * tip, "angle": angle}


class Unprintable:
    def __str__(self):
        raise ValueError


def fail(reason):
    raise RuntimeError(reason)


def make(function=shape, num_envs=8, **more):
    return envpool.make_mujoco(
        ARM, more.pop("observation", [d.Computed("double", 3), X, d.Computed("angle"), TIP]),
        [d.Reward(X[1], 0.3)], [d.Terminate(X[0], -0.4)], [d.UniformNoise(X, 0.3), d.NormalNoise(d.Qvel(), 2)],
        function=d.BatchFunction(function, INPUTS), num_envs=num_envs, seed=3, **more
    )  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"num_threads": 1}, {"num_threads": 2}, {"conventions": "dm_control"}])
def test_results_are_part_of_the_step(options):
    env = make(**options)
    obs, _ = env.reset()
    began, ended = np.zeros(8, bool), 0
    for _ in range(30):
        np.testing.assert_array_equal(obs[:, :3], 2 * obs[:, 6:])
        np.testing.assert_array_equal(obs[:, 5], obs[:, 3])
        obs, reward, terminated, _, _ = env.step(np.zeros((8, 2)))
        expected = (0.3 * obs[:, 4] + 0.1 * obs[:, 8]).astype(np.float32)
        np.testing.assert_array_equal(reward, np.where(began, 0, expected))
        np.testing.assert_array_equal(terminated, ~began & (abs(obs[:, 3]) > 0.4))
        ended += (terminated & (obs[:, 3] > 0.4)).sum()
        began = terminated
    assert ended
    env.close()


def test_one_thread_calls_it_for_whole_batches():
    """The first batch may be split, since the pool measures how long a step takes."""
    sizes = []
    env = make(lambda angle, tip: sizes.append(len(tip)) or shape(angle, tip), num_threads=1)
    env.reset(), env.step(np.zeros((8, 2)))
    assert sum(sizes) == 16 and sizes[-1] == 8
    env.close()


def test_stacked_and_named_observations():
    parts = {"made": [d.Computed("double", 3), d.Computed("angle")], "tip": [TIP]}
    env = make(observation=parts, frame_stack=2)
    before, _ = env.reset()
    np.testing.assert_array_equal(before["made"][..., :3], 2 * before["tip"])
    after = env.step(np.ones((8, 2)))[0]
    np.testing.assert_array_equal(after["made"][..., :3], 2 * after["tip"])
    np.testing.assert_array_equal(after["made"][:, 0], before["made"][:, 1])
    env.close()


def test_resets_in_the_same_step():
    env = make(autoreset_mode="same_step")
    env.reset()
    ended = 0
    for _ in range(20):
        obs, reward, terminated, _, info = env.step(np.zeros((8, 2)))
        np.testing.assert_array_equal(obs[:, :3], 2 * obs[:, 6:])
        last = np.where(terminated[:, None], info["final_obs"], obs) if terminated.any() else obs
        np.testing.assert_array_equal(reward, (0.3 * last[:, 4] + 0.1 * last[:, 8]).astype(np.float32))
        ended += terminated.sum()
    assert ended
    env.close()


def test_async_pools_and_states():
    env = make(num_threads=2, batch_size=3)
    env.async_reset()
    for _ in range(20):
        obs, *_, info = env.recv()
        np.testing.assert_array_equal(obs[:, :3], 2 * obs[:, 6:])
        env.send(np.zeros((3, 2)), info["env_id"])
    env.close()
    env = make()
    env.reset()
    copy = pickle.loads(pickle.dumps(env))
    for ours, theirs in zip(env.step(np.ones((8, 2)))[:4], copy.step(np.ones((8, 2)))[:4], strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert repr(d.BatchFunction(shape, INPUTS)).startswith("BatchFunction(function=tests.mujoco.declared.test_batch_")
    env.close(), copy.close()


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda angle, tip: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda angle, tip: None, "TypeError: the function must return a dict, got NoneType"),
        (lambda angle, tip: {"angle": angle}, "ValueError: the function must return 'double'"),
        (
            lambda angle, tip: shape(angle, tip) | {"rewards": 1},
            "ValueError: the function must return only .*, got 'rewards'",
        ),
        (
            lambda angle, tip: shape(angle, tip) | {"reward": 1},
            r"'reward', which .*, must have the shape \(\d,\), got \(\)",
        ),
        (
            lambda angle, tip: shape(angle, tip) | {"double": tip[:0]},
            r"'double', which .*, must have the shape \(\d, 3\), got \(0, 3\)",
        ),
        (
            lambda angle, tip: shape(angle, tip) | {"reward": angle + 1j},
            "ValueError: the function has returned 'reward' with .*j.* of dtype complex128, which float64 cannot hold",
        ),
        (lambda angle: {}, "TypeError: .*unexpected keyword argument 'tip'"),
        (
            lambda angle, tip: shape(angle, tip) | {1: 2, "speed": 1},
            "ValueError: the function must return only .*, got 'speed'",
        ),
        (lambda angle, tip: fail("\udcff"), r"RuntimeError: \?"),
        (lambda angle, tip: fail(Unprintable()), "RuntimeError: <no text>"),
    ],
)
def test_errors_of_the_function(function, text):
    env = make(function, num_threads=1)
    with pytest.raises(envpool.errors.EnvStepError, match=text):
        env.reset()
    env.close()


def test_the_cause_is_the_exception_of_the_function():
    env = make(lambda angle, tip: fail("on purpose"), num_threads=1)
    with pytest.raises(envpool.errors.EnvStepError, match="on purpose") as caught:
        env.reset()
    cause = caught.value.__cause__
    assert isinstance(cause, RuntimeError) and traceback.extract_tb(cause.__traceback__)[-1].name == "fail"
    env.close()


@pytest.mark.parametrize("batch_size", [3, 8], ids=["async", "sync"])
def test_the_function_uses_the_pool(batch_size):
    """Calls that would wait for it raise an exception."""
    errors, calls = [], ["recv", "reset", "async_reset", "render"]

    def use(angle, tip):
        for name in calls if ready.is_set() else []:
            try:
                getattr(env, name)()
            except envpool.errors.PoolStateError as error:
                errors.append(str(error))
        return shape(angle, tip)

    ready = threading.Event()
    env = make(use, num_threads=2, batch_size=batch_size, render_mode="rgb_array")
    env.reset(range(8))
    ready.set()
    env.send(np.zeros((8, 2)))
    env.recv()
    ready.clear()
    assert len(errors) >= len(calls)
    assert all("was called by an environment of this pool, or by a function" in error for error in errors)
    env.close()


@pytest.mark.parametrize("how", ["close", "last reference"])
def test_the_function_ends_the_pool(how):
    begins, ends = threading.Event(), threading.Event()

    def end(angle, tip):
        if begins.is_set():
            kept[0].close() if how == "close" else kept.clear()
            ends.set()
        return shape(angle, tip)

    kept = [make(end, num_threads=2, batch_size=2, step_timeout=600)]
    kept[0].reset(range(8))
    begins.set()
    kept[0].send(np.zeros((1, 2)), [0])
    wait_until(ends.is_set)
    wait_until(lambda: engine.count_orphans() == 0 and not workers())


def test_read_only_results():
    """Arrays of other libraries, for example of JAX, are often read-only."""

    def frozen(angle, tip):
        found = {name: np.asarray(array, np.float64) for name, array in shape(angle, tip).items()}
        for array in found.values():
            array.flags.writeable = False
        return found

    results = []
    for function in (shape, frozen):
        with make(function) as env:
            env.reset()
            results.append(env.step(np.ones((8, 2)))[:3])
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_array_equal(ours, theirs)


class InterruptedText(Exception):
    """An exception whose text is interrupted by Ctrl-C."""

    def __str__(self):
        raise KeyboardInterrupt


@pytest.mark.parametrize("error", [KeyboardInterrupt, InterruptedText])
def test_an_interrupt_reaches_the_caller(error):
    """Ctrl-C arrives in the function if the main thread runs it; it is not only an error of environments."""
    is_interrupted = threading.Event()

    def interrupted(angle, tip):
        if is_interrupted.is_set():
            raise error
        return shape(angle, tip)

    with make(interrupted, num_threads=1) as env:
        env.reset()
        is_interrupted.set()
        with pytest.raises(KeyboardInterrupt):
            env.step(np.zeros((8, 2)))
        is_interrupted.clear()
        with pytest.raises(envpool.errors.EnvStepError, match=error.__name__):
            env.recv()
        assert len(env.recv()[0]) == 8


def test_environments_continue_after_an_error():
    fails = threading.Event()

    def unreliable(angle, tip):
        if fails.is_set():
            raise RuntimeError("unlucky")
        return shape(angle, tip)

    env = make(unreliable, num_threads=1, on_error="restart")
    env.reset()
    fails.set()
    assert "RuntimeError: unlucky" in env.step(np.zeros((8, 2)))[-1]["error"][5]
    fails.clear()
    obs = env.step(np.zeros((8, 2)))[0]
    np.testing.assert_array_equal(obs[:, :3], 2 * obs[:, 6:])
    env.close()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"observation": [d.Computed("a", 0)]}, r"the size of Computed\(.* must be None or an integer .*, got 0"),
        ({"observation": [2 * d.Computed("a")]}, "must be a whole term of the observation"),
        ({"observation": [d.Observe(d.Computed("a"), 2.0)]}, "must be a whole term"),
        ({"observation": [d.Computed("a")], "function": None}, "needs function=BatchFunction"),
        ({"observation": [d.Computed("reward")]}, "the name of Computed.* must be a text other than .*, got 'reward'"),
        ({"observation": [d.Computed("")]}, "the name of Computed.* must be a text other than .*, got ''"),
        ({"function": d.BatchFunction(shape, {"tip": d.SitePosition("hand")})}, "input 'tip' of the function: .*hand"),
    ],
)
def test_malformed(arguments, text):
    common = {"observation": [X], "function": d.BatchFunction(shape, INPUTS)}
    with pytest.raises(envpool.errors.ConfigError, match=text):
        envpool.make_mujoco(ARM, **common | arguments)


def test_wrong_types():
    with pytest.raises(TypeError, match=r"function must be BatchFunction\(...\)"):
        envpool.make_mujoco(ARM, [X], function=shape)
    with pytest.raises(TypeError, match="function must be callable"):
        d.BatchFunction(3, INPUTS)
    with pytest.raises(TypeError, match=r"inputs\['q'\] must be an expression or numbers, got 'x'"):
        d.BatchFunction(shape, {"q": "x"})


PROGRAM = """
import envpool
from envpool.mujoco import declared as d
from tests.mujoco.declared.models import ARM
log = open({path!r}, "w")

def reward(angle):
    return {{"reward": angle}}

function = d.BatchFunction(reward, {{"angle": d.Qpos()[0]}})
pool = envpool.make_mujoco(ARM, [d.Qpos()], function=function, num_envs=2)
pool.reset()
{code}
log.write("everything")
"""


def test_the_module_of_the_function_is_destroyed_at_the_end(tmp_path):
    """A file that it has opened is flushed, although the pool, a global variable, refers to the function."""
    path = tmp_path / "log"
    for code in ("", "import pickle; copies = pickle.loads(pickle.dumps(pool)); copies.reset()"):
        assert output_of(PROGRAM.format(path=str(path), code=code)) == ""
        assert path.read_text() == "everything"
