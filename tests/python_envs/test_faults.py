"""Python environments that fail: the pool keeps working, and the other environments are unaffected."""

import warnings

import gymnasium
import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError, EnvCreateError, EnvStepError, RenderError
from envpool.python_envs.faults import failure_of
from tests.support.python_envs import FaultyEnv

KINDS = ["inline", "thread"]


@pytest.mark.parametrize("workers", KINDS)
def test_exception_in_step(workers):
    with envpool.make_python(FaultyEnv, 3, seed=0, workers=workers) as pool:
        pool.reset()
        with pytest.raises(EnvStepError, match="broken on purpose") as caught:
            pool.step(np.array([0, 1, 0]))
        assert list(caught.value.failures) == [1]
        assert "python_envs.py" in caught.value.failures[1] and "Traceback" in caught.value.failures[1]
        obs, reward, _, truncated, info = pool.recv()
        assert truncated.tolist() == [False, True, False] and obs[1].tolist() == [0, 0, 0, 0]
        assert reward.tolist() == [1, 0, 1] and obs[0, 0] == 1
        obs, *_, info = pool.step(np.zeros(3, int))
        assert info["elapsed_step"].tolist() == [2, 0, 2] and obs[:, 0].tolist() == [2, 0, 2]
        assert obs[1, 1] == 1  # the same object, reset


@pytest.mark.parametrize("workers", KINDS)
@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
def test_restart(workers, mode):
    refs = [FaultyEnv() for _ in range(3)]
    for i, env in enumerate(refs):
        env.reset(seed=i)
    with envpool.make_python(FaultyEnv, 3, seed=0, workers=workers, on_error="restart", autoreset_mode=mode) as pool:
        pool.reset()
        obs, _, _, truncated, info = pool.step(np.array([0, 1, 0]))
        assert truncated.tolist() == info["_error"].tolist() == [False, True, False]
        assert "broken on purpose" in info["error"][1] and info["error"][0] is None
        if mode == "disabled":
            obs, _ = pool.reset([1])
            assert obs[0, 1] == 0
        else:
            obs, *_ = pool.step(np.zeros(3, int))
            assert obs[1, 1] == (1 if mode == "same_step" else 0)  # a new object, which has no steps behind it
            for i in (0, 2):
                refs[i].step(0)
                assert np.array_equal(obs[i], refs[i].step(0)[0])


def test_rebuilt_environments_repeat():
    """The seed of an environment that was rebuilt follows from the seed of the pool."""
    seen = []
    for _ in range(2):
        with envpool.make_python(FaultyEnv, 2, seed=3, on_error="restart") as pool:
            pool.reset()
            pool.step(np.array([1, 0]))
            seen.append(pool.step(np.array([0, 0]))[0])
    assert np.array_equal(*seen)
    assert seen[0][0, 2] != gymnasium.utils.seeding.np_random(3)[0].random()


def test_exception_in_reset():
    with envpool.make_python(FaultyEnv, 2, autoreset_mode="disabled") as pool:
        pool.set_attr("resets_fail", [True, False])
        with pytest.raises(EnvStepError, match="reset is broken"):
            pool.reset()
        _, info = pool.recv(reset=True)
        assert info["elapsed_step"].tolist() == [0, 0]
        pool.set_attr("resets_fail", False)
        pool.reset([0])


@pytest.mark.parametrize("workers", [*KINDS, "process"])
def test_exceptions_whose_text_cannot_be_encoded(workers):
    """Names of files that are not UTF-8 contain surrogates."""

    def no_env():
        raise OSError("no file \udcff")

    class Env(FaultyEnv):
        def step(self, action):
            raise OSError("no file \udcff")

    with pytest.raises(EnvCreateError, match=r"no file \\udcff"):
        envpool.make_python([FaultyEnv, no_env], workers=workers)
    with envpool.make_python(Env, 1, workers=workers) as pool:
        pool.reset()
        with pytest.raises(EnvStepError, match=r"no file \\udcff"):
            pool.step(np.zeros(1, int))


def test_text_of_an_exception_that_cannot_be_formatted():
    class Broken(Exception):
        @property
        def __notes__(self):
            raise KeyError

        @property
        def __cause__(self):
            raise KeyError

    assert failure_of(Broken()).startswith("Broken, whose traceback cannot be formatted")


def test_all_environments_are_closed_if_warnings_are_errors(monkeypatch):
    closed, unraisable = [], []
    monkeypatch.setattr("sys.unraisablehook", unraisable.append)

    class Env(FaultyEnv):
        def close(self):
            closed.append(self)
            raise OSError("cannot close")

    pool = envpool.make_python(Env, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        pool.close()
    assert len(closed) == 3 and len(unraisable) == 1


def test_first_environment_is_closed_if_it_cannot_be_used():
    closed = []

    class Env(FaultyEnv):
        action_space = gymnasium.spaces.Text(4)

        def close(self):
            closed.append(self)

    with pytest.raises(ConfigError, match="action space must have numeric arrays"):
        envpool.make_python(Env, 3)
    with pytest.raises(ConfigError, match="step_timeout"):
        envpool.make_python(Env, 3, workers="process", step_timeout=-1)
    assert len(closed) == 1


def test_exception_in_close():
    class Env(FaultyEnv):
        def close(self):
            raise OSError("cannot close")

    pool = envpool.make_python(Env, 2)
    with pytest.warns(RuntimeWarning, match="cannot close"):
        pool.close()


def test_exception_in_render():
    class Env(FaultyEnv):
        def render(self):
            if self.count == 1:
                raise OSError("no display")
            return super().render()

    with envpool.make_python(Env, 2, render_mode="rgb_array") as pool:
        pool.reset()
        pool.step(np.zeros(2, int))
        with pytest.raises(RenderError, match="no display"):
            pool.render([0])
        assert pool.step(np.zeros(2, int))[0][0, 0] == 2


FRAME = np.zeros((4, 5, 3), np.uint8)


class Showing(FaultyEnv):
    frame = FRAME

    def render(self):
        return self.frame


@pytest.mark.parametrize(
    ("frame", "text"),
    [
        (FRAME + 0.7, "uint8 .*0.7 of dtype float64, which uint8 cannot hold: multiply frames in .0, 1. by 255 and"),
        (FRAME + np.nan, "nan of dtype float64, which uint8 cannot hold"),
        ([FRAME + 0.5], "0.5 of dtype float64"),
        (FRAME.astype(int) + 300, "300 of dtype int64, which uint8 cannot hold: return an array of uint8"),
        (FRAME.astype(int) - 1, "-1 of dtype int64"),
        (FRAME.astype(str), "not a number"),
        (FRAME + 3j, "3j of dtype complex128"),
        (np.full((4, 5, 3), None), r"render\(\) must return uint8 .*NoneType"),
    ],
)
def test_frames_that_are_refused(frame, text):
    with pytest.raises(ConfigError, match=text):
        envpool.make_python(type("Env", (Showing,), {"frame": frame}), 1, render_mode="rgb_array")
    with envpool.make_python(Showing, 1, render_mode="rgb_array") as pool:
        pool.reset()
        pool.set_attr("frame", [frame])
        with pytest.raises(RenderError, match=text):
            pool.render()


@pytest.mark.parametrize("value", [np.float64(200), np.int64(200), np.uint8(200), np.True_])
def test_frames_whose_values_uint8_has(value):
    with envpool.make_python(Showing, 1, render_mode="rgb_array") as pool:
        pool.reset()
        pool.set_attr("frame", [np.full((4, 5, 3), value)])
        frame = pool.render()
        assert frame.dtype == np.uint8 and (frame == int(value)).all()


def test_keyboard_interrupt():
    with envpool.make_python(FaultyEnv, 2) as pool:
        pool.reset()
        with pytest.raises(KeyboardInterrupt):
            pool.step(np.array([0, 2]))
        with pytest.raises(EnvStepError, match="KeyboardInterrupt"):
            pool.recv()
        assert pool.recv()[0][0, 0] == 1


@pytest.mark.parametrize(
    ("results", "text"),
    [
        ((np.zeros(3, np.float32), 1.0, False, False, {}), r"must have shape .*, got \(3,\)"),
        ((np.zeros(4, np.float32), "much", False, False, {}), "real number"),
        ((np.zeros(4, np.float32), 1.0, False, {}), "4 values"),
        ((None, 1.0, False, False, {}), "shape"),
        ((np.zeros(4, np.float32), 1.0, np.zeros(2), False, {}), "truth value"),
        ((np.zeros(4, np.float32), 1.0, False, False, [1]), "info must be a dict, got a list"),
    ],
)
def test_bad_results(results, text):
    class Env(FaultyEnv):
        def step(self, action):
            return results

    with envpool.make_python(Env, 1) as pool:
        pool.reset()
        with pytest.raises(EnvStepError, match=text):
            pool.step(np.zeros(1, int))
