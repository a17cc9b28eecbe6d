"""``gymnasium.make("envpool/<task>")``: one environment, equal to gymnasium's own."""

import pickle
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from gymnasium.utils.env_match import check_environments_match

import envpool
from envpool.errors import ActionError, ConfigError, EnvIdError
from envpool.gymnasium_api.single_env import EnvPoolEnv
from tests.support import plugin
from tests.support.python import output_of


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("task", ["CartPole-v1", "MountainCarContinuous-v0", "FrozenLake-v1"])
def test_equals_gymnasium(task):
    mine, theirs = gymnasium.make(f"envpool/{task}"), gymnasium.make(task)
    assert isinstance(mine.unwrapped, EnvPoolEnv)
    theirs.action_space.seed(5)
    for episode in range(3):
        seed = 7 if episode == 0 else None
        assert np.array_equal(mine.reset(seed=seed)[0], theirs.reset(seed=seed)[0])
        ended = False
        while not ended:
            action = theirs.action_space.sample()
            a, b = mine.step(action), theirs.step(action)
            assert np.array_equal(a[0], b[0]) and a[0] in mine.observation_space
            assert a[1] == np.float32(b[1]) and a[2:4] == b[2:4]
            assert [type(x) for x in a[1:5]] == [float, bool, bool, dict]
            ended = a[2] or a[3]
    mine.close()
    theirs.close()


@pytest.mark.parametrize("driver", ["", "dummy"])
@pytest.mark.parametrize("task", ["CartPole-v1", "Pendulum-v1", "Taxi-v3", "Pong-v5"])
def test_follows_gymnasiums_conventions(task, driver, monkeypatch):
    """Without a display, "human" is a render mode only if SDL has a driver that needs none."""
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SDL_VIDEODRIVER", driver)
    env = gymnasium.make(f"envpool/{task}", render_mode="rgb_array")
    assert env.unwrapped.metadata["render_modes"] == ["rgb_array", "human"][: 2 if driver else 1]
    check_env(env.unwrapped)
    env.reset()
    assert env.render().shape[2] == 3
    env.close()


def test_spec():
    env = gymnasium.make("envpool/CartPole-v1")
    assert (env.spec.max_episode_steps, env.spec.reward_threshold) == (500, 475.0)
    assert gymnasium.make(env.spec).spec.max_episode_steps == 500
    envs = gymnasium.make_vec("envpool/CartPole-v1", num_envs=2)
    assert (envs.spec.max_episode_steps, envs.spec.reward_threshold) == (500, 475.0)
    assert gymnasium.make_vec("envpool/CartPole-v1", max_episode_steps=9).spec.max_episode_steps == 9
    for options in ({}, {"num_envs": 3}, {"render_mode": "rgb_array_list"}, {"vectorization_mode": "sync"}):
        envs = gymnasium.make_vec("envpool/CartPole-v1", **options)
        again = gymnasium.make_vec(envs.spec)
        assert again.spec == envs.spec and (again.num_envs, type(again)) == (envs.num_envs, type(envs))
    assert gymnasium.make_vec("envpool/Blackjack-v1").spec.max_episode_steps is None
    with envpool.make_gymnasium("CartPole-v1", max_episode_steps=9) as pool:
        assert pool.spec.max_episode_steps == 9
    assert envpool.make_spec("Blackjack-v1").max_episode_steps is None
    assert EnvPoolEnv("CartPole-v1").spec is None


@pytest.mark.parametrize("limit", [50, 200, 1000, -1])
def test_the_time_limit_is_that_of_gymnasium(limit):
    mine, theirs = (gymnasium.make(f"{name}Pendulum-v1", max_episode_steps=limit) for name in ("envpool/", ""))
    copies = [
        gymnasium.make(EnvSpec.from_json(mine.spec.to_json())),
        gymnasium.make(pickle.loads(pickle.dumps(mine.spec))),
    ]
    assert mine.spec.max_episode_steps == theirs.spec.max_episode_steps == (None if limit == -1 else limit)
    for env in (mine, *copies):
        assert env.spec.max_episode_steps == theirs.spec.max_episode_steps
        theirs.action_space.seed(5)
        for seed in (7, None):
            assert np.array_equal(env.reset(seed=seed)[0], theirs.reset(seed=seed)[0])
            for _ in range(1010):
                action = theirs.action_space.sample()
                a, b = env.step(action), theirs.step(action)
                assert np.array_equal(a[0], b[0]) and a[1] == np.float32(b[1]) and a[2:4] == b[2:4]
        env.close()
    theirs.close()


def test_the_time_limit_of_a_task_that_has_none():
    env = gymnasium.make("envpool/Blackjack-v1", max_episode_steps=3)
    assert env.spec.max_episode_steps == env.unwrapped.pool.spec.max_episode_steps == 3
    assert gymnasium.make("envpool/Blackjack-v1", max_episode_steps=-1).spec.max_episode_steps is None


def test_observations_have_the_fraction_of_the_time_limit():
    env = gymnasium.make("envpool/Pendulum-v1", max_episode_steps=1000, time_aware="normalized")
    env.reset()
    assert env.step(np.zeros(1, np.float32))[0][-1] == np.float32(0.001)


def test_the_time_limit_under_another_name():
    env = gymnasium.make("envpool/Pendulum-v1", max_cycles=300)
    assert env.spec.max_episode_steps == gymnasium.make(env.spec).unwrapped.pool.spec.max_episode_steps == 300
    with pytest.raises(TypeError, match="two names of the option max_episode_steps"):
        gymnasium.make("envpool/Pendulum-v1", max_cycles=300, max_episode_steps=30)
    assert gymnasium.make("envpool/Pendulum-v1", max_episode_steps=2**40).spec.max_episode_steps == 2**40
    assert EnvPoolEnv("Pendulum-v1").pool.spec.max_episode_steps == 200


def test_gymnasiums_wrappers_work():
    env = gymnasium.make("envpool/CartPole-v1", max_episode_steps=3)
    env = gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.wrappers.FlattenObservation(env))
    env.reset(seed=1)
    for _ in range(3):
        *_, truncated, info = env.step(0)
    assert truncated is True and info["episode"]["l"] == 3
    envs = gymnasium.make_vec("envpool/CartPole-v1", num_envs=2, vectorization_mode="sync")
    assert envs.reset()[0].shape == (2, 4)
    envs.close()


@pytest.mark.parametrize("task", ["CartPole-v1", "Acrobot-v1"])
def test_gymnasium_finds_that_environments_match(task):
    mine, theirs = gymnasium.make(f"envpool/{task}"), gymnasium.make(task)
    check_environments_match(theirs, mine, 40, seed=3, skip_render=True, info_comparison="skip")
    mine.close()
    theirs.close()


def test_without_a_seed_every_environment_is_different():
    first = {gymnasium.make("envpool/CartPole-v1").reset()[0].tobytes() for _ in range(3)}
    assert len(first) == 3
    again = [EnvPoolEnv("CartPole-v1", seed=4).reset()[0].tobytes() for _ in range(2)]
    assert again[0] == again[1]


@pytest.mark.parametrize("option", ["num_envs", "batch_size", "autoreset_mode", "env_seed", "finished_episodes"])
def test_options_of_several_environments(option):
    with pytest.raises(ConfigError, match=f"{option} is an option of several environments"):
        gymnasium.make("envpool/CartPole-v1", **{option: 2})


@pytest.mark.parametrize("make", [gymnasium.make, gymnasium.make_vec])
def test_the_task_is_that_of_the_id(make):
    with pytest.raises(ConfigError, match="task_id must be 'CartPole-v1' for 'envpool/CartPole-v1', got 'Pong-v5'"):
        make("envpool/CartPole-v1", task_id="Pong-v5")


def test_an_action_that_is_no_array():
    env = gymnasium.make("envpool/CartPole-v1").unwrapped
    env.reset()
    with pytest.raises(ActionError, match="action 'action' must be an array"):
        env.step([[1], [1, 2]])


@pytest.mark.parametrize(
    ("task", "action", "text"),
    [
        ("CartPole-v1", [1], r"^action must have the shape \(\), got \(1,\)$"),
        ("CartPole-v1", np.ones((1, 1), int), r"^action must have the shape \(\), got \(1, 1\)$"),
        ("Pendulum-v1", 0.5, r"^action must have the shape \(1,\), got \(\)$"),
        ("Pendulum-v1", [[0.5]], r"^action must have the shape \(1,\), got \(1, 1\)$"),
    ],
)
def test_an_action_of_another_shape(task, action, text):
    env = gymnasium.make(f"envpool/{task}", max_episode_steps=1).unwrapped
    env.reset()
    for _ in range(2):
        with pytest.raises(ActionError, match=text):
            env.step(action)
    assert env.step(env.action_space.sample())[3]
    with pytest.raises(ActionError, match=text):
        env.step(action)  # also after the end
    assert env.step(env.action_space.sample())[3]


def test_an_array_of_an_action_of_another_shape():
    plugin.load()
    env = EnvPoolEnv("Synthetic-v0", layout="rich")
    env.reset()
    action = env.action_space.sample()
    action["action"]["push"] = np.zeros(3, np.float32)
    with pytest.raises(ActionError, match=r"^action\['action'\]\['push'\] must have the shape \(2,\), got \(3,\)$"):
        env.step(action)


def test_the_last_seed():
    """As of gymnasium's environments, except that a random seed is unknown: it is drawn for the pool."""
    env = gymnasium.make("envpool/CartPole-v1", seed=4)
    assert env.np_random_seed == env.unwrapped.np_random_seed == 4
    for seed, last in ((None, 4), (9, 9), (None, 9), (2**63, 2**63)):
        env.reset(seed=seed)
        assert env.np_random_seed == last and type(env.np_random_seed) is int
    with pytest.raises(AttributeError):
        env.unwrapped.np_random_seed = 5
    with pytest.raises(ConfigError, match="seed"):
        env.unwrapped.reset(seed=2**64)
    assert env.np_random_seed == 2**63
    unseeded = gymnasium.make("envpool/CartPole-v1")
    unseeded.reset()
    assert unseeded.np_random_seed == -1
    unseeded.reset(seed=3)
    assert unseeded.np_random_seed == 3


def equal_steps(mine, theirs, count):
    """Step both environments with equal random actions, and assert that the results are equal."""
    theirs.action_space.seed(3)
    for _ in range(count):
        action = np.asarray(theirs.action_space.sample(), mine.action_space.dtype)[()]
        a, b = mine.step(action), theirs.step(action)
        np.testing.assert_equal(a[0], b[0])
        assert a[1] == np.float32(b[1]) and a[2:4] == b[2:4]
        assert "prob" not in b[4] or a[4]["prob"] == np.float32(b[4]["prob"])
    return b


@pytest.mark.filterwarnings("ignore:.*:UserWarning")
@pytest.mark.parametrize(
    ("task", "options"),
    [
        ("CartPole-v1", {}),
        ("CartPole-v1", {"sutton_barto_reward": True}),
        ("Pendulum-v1", {}),
        ("MountainCarContinuous-v0", {}),
        ("Taxi-v4", {}),
        ("CliffWalking-v1", {}),
        ("FrozenLake-v1", {}),
        ("FrozenLake-v1", {"is_slippery": False, "reward_schedule": (3, -1, 0.5)}),
        ("Blackjack-v1", {}),
        ("Blackjack-v1", {"natural": True, "sab": False}),
        ("LunarLander-v3", {}),
        ("BipedalWalker-v3", {}),
        ("Hopper-v5", {}),
        ("InvertedPendulum-v5", {}),
    ],
)
def test_an_episode_goes_on_after_its_end(task, options):
    limit = {"max_episode_steps": 90}
    mine, theirs = gymnasium.make(f"envpool/{task}", **limit, **options), gymnasium.make(task, **limit, **options)
    for seed in (1, 2):
        mine.reset(seed=seed)
        theirs.reset(seed=seed)
        equal_steps(mine, theirs, 110)
    mine.close()
    theirs.close()


@pytest.mark.filterwarnings("ignore:.*:UserWarning")
@pytest.mark.parametrize("is_slippery", [True, False])
def test_a_map_of_its_own_after_the_end(is_slippery):
    """Where the map of the pool has other holes."""
    desc = ["SFGF", "FFFF", "HFFF", "GFFF"]
    mine = gymnasium.make("envpool/FrozenLake-v1", is_slippery=is_slippery)
    theirs = gymnasium.make("FrozenLake-v1", desc=desc, is_slippery=is_slippery)
    mine.unwrapped.pool.set_params({"desc": [desc]})
    for seed in range(8):
        assert mine.reset(seed=seed)[0] == theirs.reset(seed=seed)[0]
        equal_steps(mine, theirs, 30)
    mine.close()
    theirs.close()


@pytest.mark.filterwarnings("ignore:.*:UserWarning")
def test_a_hand_after_the_end_is_drawn_and_saved():
    mine, theirs = (gymnasium.make(f"{name}Blackjack-v1", render_mode="rgb_array") for name in ("envpool/", ""))
    mine.reset(seed=4)
    theirs.reset(seed=4)
    drawn = []
    for points in (9, 99, 100):
        while drawn[-1:] == [] or drawn[-1] <= points:
            drawn.append(int(mine.step(1)[0][0]))
            assert drawn[-1] == theirs.step(1)[0][0]
        assert np.array_equal(mine.render(), theirs.render())
    assert drawn[-1] > 100
    pool = mine.unwrapped.pool
    state = pool.get_state()
    expected = mine.step(0)[:2]
    pool.set_state(state)
    np.testing.assert_equal(mine.step(0)[:2], expected)
    mine.close()
    theirs.close()


def test_a_step_after_the_end_warns_once():
    env = EnvPoolEnv("CartPole-v1", seed=1)
    env.reset()
    while not env.step(1)[2]:
        pass
    with pytest.warns(UserWarning, match=r"call reset\(\) after terminated=True"):
        assert env.step(1)[1:3] == (0.0, True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert env.step(1)[1:3] == (0.0, True)
        env.reset()
        assert env.step(1)[1:3] == (1.0, False)


def test_a_step_after_the_time_limit():
    env = EnvPoolEnv("Breakout-v5", max_episode_steps=2)
    env.reset()
    assert [env.step(1)[3] for _ in range(4)] == [False, True, True, True]
    env.reset()
    assert [env.step(1)[3] for _ in range(2)] == [False, True]


def test_a_step_after_an_end_that_nothing_can_follow():
    env = EnvPoolEnv("Catch-v0", seed=1)
    with pytest.raises(EnvIdError, match=r"^step\(\) needs a reset\(\) first$"):
        env.step(1)
    env.reset()
    while not env.step(1)[2]:
        pass
    with pytest.raises(EnvIdError, match=r"^the episode has ended: call reset\(\)$"):
        env.step(1)
    env.reset()
    assert env.step(1)[2] is False


def test_actions_and_observations_of_several_arrays():
    plugin.load()
    env = EnvPoolEnv("Synthetic-v0", layout="rich")
    obs, _ = env.reset()
    assert obs in env.observation_space
    obs, *_ = env.step(env.action_space.sample())
    assert obs in env.observation_space


def test_envpool_is_imported_by_the_id():
    code = "import gymnasium\nprint(gymnasium.make('envpool:envpool/CartPole-v1').unwrapped.pool.num_envs)"
    assert output_of(code) == "1\n"


def test_gymnasium_may_be_looked_for_before_it_is_imported():
    """As libraries do that find out whether it is installed."""
    output_of(
        "import importlib.util, envpool\n"
        "assert importlib.util.find_spec('gymnasium')\n"
        "import gymnasium\n"
        "gymnasium.make('envpool/CartPole-v1').close()"
    )
