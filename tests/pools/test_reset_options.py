"""Options of resets: the episodes of upstream's ``reset(seed=, options=)``, and of no later reset."""

import pickle

import gymnasium
import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError, EnvIdError
from envpool.native import EnvDefinition, Param, param_fields

CASES = {
    "CartPole-v1": ({"low": -0.2, "high": 0.1}, {"low": 0.02}, {"high": np.array(0.3)}),
    "Acrobot-v1": ({"low": -1, "high": 2.0}, {"high": 0.5}),
    "MountainCar-v0": ({"low": -0.9, "high": 0.5}, {"low": -0.6, "high": -0.6}),
    "MountainCarContinuous-v0": ({"low": -0.9, "high": 0.5}, {"high": 0.1}),
    "Pendulum-v1": ({"x_init": 0.3, "y_init": 4}, {"y_init": 0.0}, {"x_init": np.float32(1.25)}),
    "PointMaze_UMaze-v3": ({"goal_cell": np.array([3, 1])}, {"reset_cell": (1, 3), "goal_cell": [3, 2]}),
    "AntMaze_UMaze-v5": ({"goal_cell": np.array([3, 1]), "reset_cell": None}, {"reset_cell": np.array([1, 2])}),
}


def upstream(task):
    if "Maze" in task or "Adroit" in task:
        import gymnasium_robotics

        gymnasium.register_envs(gymnasium_robotics)
    return gymnasium.make(task)


def same(a, b):
    np.testing.assert_equal(a, b)


def row(nest, i):
    return {k: row(v, i) for k, v in nest.items()} if isinstance(nest, dict) else nest[i]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("task", CASES)
def test_equal_upstream(task):
    theirs = upstream(task)
    mine = gymnasium.make(f"envpool/{task}")
    envs = envpool.make_vec(task, 3)
    for seed, options in enumerate(CASES[task]):
        expected, _ = theirs.reset(seed=seed, options=options)
        same(mine.reset(seed=seed, options=options)[0], expected)
        mask = {"reset_mask": np.array([False, True, True])}
        envs.reset(seed=5)
        same(row(envs.reset(seed=[None, 7, seed], options=options | mask)[0], 2), expected)
        action = theirs.action_space.sample()
        same(mine.step(action)[0], theirs.step(action)[0])
        same(mine.reset()[0], theirs.reset()[0])  # the options hold for one reset
    for env in (theirs, mine, envs):
        env.close()


def adroit_states(task, count):
    """Return states in which upstream's hand was after some steps."""
    env = upstream(task)
    env.reset(seed=11)
    env.action_space.seed(1)
    states = []
    for _ in range(count):
        for _ in range(4):
            env.step(env.action_space.sample())
        states.append(env.unwrapped.get_env_state())
    env.close()
    return states


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", ["Door", "Hammer", "Pen", "Relocate"])
def test_states_of_the_adroit_hand(name):
    task = f"AdroitHand{name}-v1"
    theirs, mine, envs = upstream(task), gymnasium.make(f"envpool/{task}"), envpool.make_vec(task, 3)
    known, model = theirs.unwrapped._state_space, theirs.unwrapped.model
    usual = model.body_pos.copy()
    states = adroit_states(task, 2)
    envs.reset(seed=5)
    for seed, state in enumerate(states):
        # Upstream refuses entries of its own get_env_state() that it does not use.
        expected, _ = theirs.reset(seed=seed, options={"initial_state_dict": {k: state[k] for k in known}})
        same(mine.reset(seed=seed, options={"initial_state_dict": state})[0], expected)
        options = {"initial_state_dict": state, "reset_mask": np.array([False, True, True])}
        same(envs.reset(seed=[None, 7, seed], options=options)[0][2], expected)
        for _ in range(3):
            action = theirs.action_space.sample()
            a, b = mine.step(action), theirs.step(action)
            same(a[0], b[0])
            assert a[1] == np.float32(b[1])
        model.body_pos[:] = usual  # upstream never takes back what a state has moved
        same(mine.reset()[0], theirs.reset()[0])  # the option holds for one reset
    with envpool.make_gymnasium(task, num_envs=2, seed=3) as pool:
        both = {key: np.stack([state[key] for state in states]) for key in states[0]}
        first, _ = pool.reset(seed=3, options={"initial_state_dict": both})
        saved = pool.get_state()
        expected = pool.step(np.zeros((2, *theirs.action_space.shape), np.float32))[0]
        same(pool.reset(seed=3, options={"initial_state_dict": states})[0], first)
        pool.set_state(saved)
        same(pool.step(np.zeros((2, *theirs.action_space.shape), np.float32))[0], expected)
    for env in (theirs, mine, envs):
        env.close()


def test_states_of_the_adroit_hand_that_are_not_allowed():
    state = {"qpos": np.zeros(30), "qvel": np.zeros(30), "door_body_pos": np.zeros(3)}
    with envpool.make_gymnasium("AdroitHandDoor-v1", num_envs=2) as pool:
        pool.reset()
        for given, text in (
            (None, "must be a dict, or a sequence of one dict per environment, got None"),
            ({**state, "speed": 1}, r"must have the keys qpos, qvel, door_body_pos, got .*speed"),
            ({"qpos": np.zeros(30)}, "must have the keys qpos, qvel, door_body_pos, got qpos"),
            (state | {"qpos": np.zeros(29)}, r"\['qpos'\] must have the shape \(30,\), .*, got \(29,\)"),
            (state | {"qvel": np.zeros((3, 30))}, "must have the shape"),
            (state | {"qvel": np.full(30, np.nan)}, r"\['qvel'\] must be finite"),
            (state | {"qvel": ["a"] * 30}, r"\['qvel'\] must be numbers"),
        ):
            with pytest.raises(ConfigError, match=text):
                pool.reset(options={"initial_state_dict": given})
        assert pool.num_outstanding == 0
        pool.step(np.zeros((2, 28), np.float32))


@pytest.mark.parametrize("options", [{}, {"frame_stack": 2}])
@pytest.mark.parametrize("batch_size", [3, 2])
def test_one_value_per_environment(options, batch_size):
    with envpool.make_gymnasium("CartPole-v1", num_envs=3, batch_size=batch_size, **options) as pool:
        low = np.array([-0.3, 0.1, 0.2])
        obs, _ = pool.reset([2, 0, 1], seed=[1, 2, 3], options={"low": low, "high": 0.5})
        for i, (seed, bound) in enumerate(zip([1, 2, 3], low, strict=True)):
            expected, _ = upstream("CartPole-v1").reset(seed=seed, options={"low": bound, "high": 0.5})
            np.testing.assert_array_equal(np.float32(obs[i]).reshape(-1, 4)[-1], expected)
        obs, _ = pool.reset([0, 1], options=[None, {"low": 0.3, "high": 0.4}])
        assert (abs(obs[0]) <= 0.05).all() and (obs[1] >= np.float32(0.3)).any()
        obs, _ = pool.reset([0, 1], options=[None, None])
        assert (abs(obs) <= 0.05).all()


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_automatic_resets_have_no_options(mode):
    with envpool.make_gymnasium("MountainCar-v0", num_envs=2, max_episode_steps=1, autoreset_mode=mode) as pool:
        obs, _ = pool.reset(options={"low": 0.2, "high": 0.3})
        assert (obs[:, 0] >= 0.2).all()
        for _ in range(1 if mode == "same_step" else 2):
            obs, *_ = pool.step(np.ones(2, int))
        assert (obs[:, 0] <= -0.4).all()


def test_options_and_parameters():
    with envpool.make_gymnasium("CartPole-v1", num_envs=2) as pool:
        pool.set_params({"gravity": 3.0}, [1])
        assert (pool.reset(options={"low": 0.2, "high": 0.3})[0] >= 0.2).all()
        assert pool.get_params(in_force=True)["gravity"].tolist() == [9.8, 3.0]
        assert list(pool.get_params()) == list(pool.spec.param_spec)
        pool.set_params({"gravity": 4.0})
        assert (abs(pool.reset()[0]) <= 0.05).all()
        assert pool.get_params(in_force=True)["gravity"].tolist() == [4.0, 4.0]


@pytest.mark.parametrize("task", ["CartPole-v1", "PointMaze_UMaze-v3"])
def test_saved_states_do_not_contain_options(task):
    options = CASES[task][0]
    with envpool.make_gymnasium(task, num_envs=2) as pool:
        pool.set_params({"gravity": 9.0} if task == "CartPole-v1" else {})
        states = pool.get_state()
        pool.reset(options=options)
        saved = pool.get_state()
        expected, _ = pool.reset()
        for state in (saved, pickle.loads(pickle.dumps(saved))):
            pool.set_state(state)
            same(pool.reset()[0], expected)
        pool.set_state(states)
        pool.copy_state([0], [1])
        pool.reset()


def test_colours_of_car_racing():
    options = {"domain_randomize": True}
    theirs, mine = gymnasium.make("CarRacing-v3", **options), envpool.make_gymnasium("CarRacing-v3", **options)
    same(mine.reset(seed=3)[0][0], theirs.reset(seed=3)[0])
    kept, chosen = {"randomize": False}, {"randomize": True}
    same(mine.reset(seed=4, options=kept)[0][0], theirs.reset(seed=4, options=kept)[0])
    state = mine.get_state()
    after = [mine.step(np.zeros((1, 3), np.float32))[0], mine.reset()[0]]
    theirs.step(np.zeros(3, np.float32))
    same(after[1][0], theirs.reset()[0])
    mine.reset(seed=9)
    mine.set_state(state)
    same([mine.step(np.zeros((1, 3), np.float32))[0], mine.reset()[0]], after)
    same(mine.reset(options=chosen)[0][0], theirs.reset(options=chosen)[0])
    mine.close()
    theirs.close()


def test_colours_that_were_never_chosen_are_the_usual_ones():
    make = envpool.make_gymnasium
    with make("CarRacing-v3", domain_randomize=True) as pool, make("CarRacing-v3") as usual:
        same(pool.reset(seed=1, options={"randomize": False})[0], usual.reset(seed=1, options={"randomize": True})[0])


@pytest.mark.parametrize(
    ("task", "options", "text"),
    [
        (
            "CartPole-v1",
            {"low": 0.3, "high": 0.1},
            r"options\['low'\] must be at most options\['high'\], got 0.3 and 0.1",
        ),
        ("CartPole-v1", {"low": 0.1}, "must be at most"),
        ("CartPole-v1", {"low": "x", "high": "y"}, r"options\['low'\] must be a finite number, got 'x'"),
        ("CartPole-v1", {"low": None}, "must be a finite number, got None"),
        ("Acrobot-v1", {"low": [-1.0, -1.0, 0.0], "high": 2}, r"must have the shape \(\), or \(2,\)"),
        ("MountainCar-v0", {"low": float("nan")}, "must be a finite number, got nan"),
        ("MountainCarContinuous-v0", {"low": -1e308, "high": 1e308}, "must be finite, got"),
        ("Pendulum-v1", {"x_init": -1.0}, "must be a finite number of at least 0"),
        ("Pendulum-v1", {"x_inits": 1.0}, "no reset option 'x_inits'; did you mean 'x_init'"),
        ("Catch-v0", {"low": 1.0}, "Catch-v0 has no options for reset, but 'low' was given"),
        ("CarRacing-v3", {"randomize": 2}, "must be a boolean"),
        ("PointMaze_UMaze-v3", {"goal_cell": [0, 0]}, "must not be a wall"),
        ("PointMaze_UMaze-v3", {"reset_cell": [1, 5]}, "must be a cell of the maze, which has 5 rows and 5 columns"),
        ("PointMaze_UMaze-v3", {"reset_cell": [-1, 1]}, "must be a cell of the maze"),
        ("PointMaze_UMaze-v3", {"reset_cell": [1.5, 1]}, "must be integers"),
        (
            "PointMaze_Medium_Diverse_G-v3",
            {"goal_cell": (1, 1)},
            r"options\['goal_cell'\] must not be the only cell in which an episode can begin, got \(1, 1\): choose",
        ),
        ("AntMaze_Medium_Diverse_G-v5", {"goal_cell": [1, 1]}, r"the only cell .* got \(1, 1\)"),
        ("PointMaze_Open_Diverse_G-v3", {"goal_cell": (1, 1), "reset_cell": None}, "must not be the only cell"),
    ],
)
def test_mistakes(task, options, text):
    with envpool.make_gymnasium(task, num_envs=2) as pool:
        for given in (options, [None, options]):
            if not (isinstance(given, list) and "shape" in text):
                with pytest.raises(ConfigError, match=text):
                    pool.reset(options=given)
        pool.reset()


def test_options_of_a_refused_call_are_forgotten():
    with envpool.make_gymnasium("CartPole-v1", num_envs=2) as pool:
        pool.reset()
        with pytest.raises(EnvIdError):
            pool.reset([0, 0], options={"low": 0.04})
        pool.send(np.zeros(1, int), [1])
        with pytest.raises(EnvIdError):
            pool.reset([0, 1], options={"high": 0.9, "low": 0.8})
        pool.recv(env_id=[1])
        assert (abs(pool.reset()[0]) <= 0.05).all()


def test_the_table_of_a_definition_has_the_options():
    option = {"low": Param(0.0)}
    assert [field.name for field in param_fields({"g": Param(1.0)}, option)] == ["g", "reset:low"]
    assert EnvDefinition.reset_options == {}
    spec = envpool.make_spec("CartPole-v1")
    assert list(spec.reset_option_spec) == ["low", "high"] and "low" not in spec.param_spec
