"""``make_python(..., debug=True)``: where environments run, what is raised, and what is checked."""

import threading
import traceback

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import envpool
from envpool.errors import ConfigError, EnvCreateError, EnvStepError
from envpool.python_envs.space_checks import check_observation
from tests.support.python_envs import SPACES, SpaceEnv


class Broken(gymnasium.Env):
    """Its action decides what happens: 1 raises, 2 leaves the space, 3 returns NaN."""

    observation_space = spaces.Box(-1, 1, (2,), np.float32)
    action_space = spaces.Discrete(4)
    render_mode = "rgb_array"

    def __init__(self, on_create=None):
        if on_create is not None:
            raise on_create

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        if options:
            raise LookupError(options["text"])
        return np.zeros(2, np.float32), {}

    def step(self, action):
        self.thread = threading.get_ident()
        secret = f"action {action}"
        if action == 1:
            raise LookupError(secret)
        obs = np.array([0.5, {2: 1.5, 3: np.nan}.get(int(action), 0.5)], np.float32)
        return obs, 1.0, False, False, {}

    def render(self):
        if getattr(self, "thread", None) is None:
            return np.zeros((4, 4, 3), np.uint8)
        raise LookupError("no picture")


def debugged(**options):
    return envpool.make_python(Broken, 2, debug=True, **options)


@pytest.mark.parametrize("workers", ["inline", "thread", "process", "auto"])
def test_environments_run_in_the_calling_thread(workers):
    with debugged(workers=workers, step_timeout=5, num_threads=2) as pool:
        pool.reset()
        pool.step(np.zeros(2, int))
        assert pool.get_attr("thread") == (threading.get_ident(),) * 2


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_the_exception_of_a_step_is_raised_itself(mode):
    with debugged(autoreset_mode=mode) as pool:
        pool.reset()
        with pytest.raises(LookupError, match="action 1") as caught:
            pool.step(np.array([0, 1]))
        frame = list(traceback.walk_tb(caught.value.__traceback__))[-1][0]
        assert frame.f_locals["secret"] == "action 1"  # where a post-mortem debugger begins
        _, reward, _, truncated, _ = pool.recv()  # as after an EnvStepError
        assert (reward.tolist(), truncated.tolist()) == ([1, 0], [False, True])
        assert pool.step(np.zeros(2, int))[0].shape == (2, 2)


def test_without_debug_it_is_a_cause():
    with envpool.make_python(Broken, 2) as pool:
        pool.reset()
        with pytest.raises(EnvStepError) as caught:
            pool.step(np.array([0, 1]))
        assert isinstance(caught.value.__cause__, LookupError)
        pool.recv()
        assert pool.step(np.array([2, 2]))[0].max() == 1.5  # observations are not checked


def test_exceptions_of_other_calls():
    with pytest.raises(LookupError, match="early"):
        envpool.make_python(Broken, 2, debug=True, env_kwargs={"on_create": LookupError("early")})
    with pytest.raises(EnvCreateError):
        envpool.make_python(Broken, 2, env_kwargs={"on_create": LookupError("early")})
    with debugged(render_mode="rgb_array") as pool:
        with pytest.raises(LookupError, match="from options"):
            pool.reset(options={"text": "from options"})
        pool.reset()
        pool.step(np.zeros(2, int))
        with pytest.raises(LookupError, match="no picture"):
            pool.render()


def test_vector_environments_and_rollouts():
    envs = envpool.make_vec(Broken, 2, debug=True)
    envs.reset(seed=1)
    with pytest.raises(LookupError, match="action 1"):
        envs.step(np.array([1, 0]))
    envs.reset()
    assert envs.step(np.zeros(2, int))[0].shape == (2, 2)
    envs.close()
    with debugged() as pool:
        rollout = envpool.Rollout(pool, 4)
        rollout.reset()
        with pytest.raises(LookupError, match="action 1"):
            rollout.step(np.array([1, 0]))


@pytest.mark.parametrize(("action", "value"), [(2, "1.5"), (3, "nan")])
def test_observations_are_checked(action, value):
    with debugged() as pool:
        pool.reset()
        text = (
            rf"^the observation, at \(1,\), must be between -1.0 and 1.0 as its space says, got {value}; 1 of 2 "
            "elements are outside: correct the environment or its observation_space$"
        )
        with pytest.raises(ValueError, match=text):
            pool.step(np.array([0, action]))


@pytest.mark.parametrize("observation", SPACES)
def test_samples_of_all_spaces_pass(observation):
    actions = [0, 1, 0] * 4
    results = []
    for debug in (False, True):
        with envpool.make_python(lambda: SpaceEnv(observation, "discrete"), 2, debug=debug) as pool:
            pool.reset()
            space = pool.spec.config.source.action_space
            results.append([pool.step(np.full(2, space.start + a))[1].tolist() for a in actions])
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("space", "value", "text"),
    [
        ("box", np.full((3, 2), 11), r"the observation, at \(0, 0\), must be between -10.0 and 10.0"),
        ("image", np.full((8, 8, 2), 256), r"got 256; 128 of 128 elements"),
        ("discrete", 7, r"the observation must be in Discrete\(5, start=2\), got 7: correct"),
        ("discrete", np.int64(1), "must be in Discrete"),
        ("multi_discrete", np.array([2, 4]), "must be in MultiDiscrete"),
        ("multi_binary", np.array([0, 1, 2, 0]), "must be in MultiBinary"),
        ("dict", {"a": 0, "b": {"c.d": np.array([0.5, -1])}}, r"the observation\['b'\]\['c.d'\], at \(1,\), must be"),
        ("dict", {"a": 0}, r"the observation must have the keys \['a', 'b'\] of its space, got the keys \['a'\]"),
        ("dict", 3, r"must have the keys \['a', 'b'\] of its space, got 3"),
        ("dict", {"a": 0, "b": {"c.d": np.zeros(2), "d": 1}}, r"the observation\['b'\] must have the keys"),
        ("tuple", (1,), "the observation must be a tuple of 2 entries"),
        ("text", "far too long for it", "the observation must be in Text"),
    ],
)
def test_texts_of_checks(space, value, text):
    with pytest.raises(ValueError, match=text):
        check_observation(SPACES[space], value)


def test_options_that_contradict():
    with pytest.raises(ConfigError, match="debug=True raises what an environment raises, and on_error='restart'"):
        debugged(on_error="restart")
    with pytest.raises(TypeError, match="debug must be"):
        envpool.make_python(Broken, 2, debug="yes")
