"""Parameters that pools of real tasks draw for each episode: exactness, reproducibility, saved states, copies."""

import copy
import pickle

import gymnasium
import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

import envpool
from envpool.errors import StateError
from tests._core.test_draws import stream
from tests.support.results import assert_same
from tests.support.saved import body_of, core_at, sealed

RANGES = {"length": ("loguniform", 0.2, 2), "masscart": ("scale", 0.5, 2), "gravity": ("choice", [9.8, 3.7])}


def make(**options):
    return envpool.make_gymnasium("CartPole-v1", **{"num_envs": 3, "seed": 8, "randomize": RANGES} | options)


def play(pool, steps=60):
    """Return the results of some steps, and the parameters in force after each."""
    rows = []
    for k in range(steps):
        if pool.spec.config.autoreset_mode == "disabled" and k % 20 == 0:
            pool.reset()
        actions = np.full(pool.num_envs, k % 3 == 0, np.int32)
        if pool.spec.config.autoreset_mode == "disabled":
            pool._continue(pool.all_env_ids)
        obs, reward, *flags, _ = pool.step(actions)
        params = pool.get_params(in_force=True)
        rows.append([x.tobytes() for x in (obs, reward, *flags, *(params[name] for name in RANGES))])
    return rows


# ---- exactness -------------------------------------------------------------------------------------------------------

TASKS = [
    ("CartPole-v1", {"masspole": ("scale", 0.5, 2), "tau": ("uniform", 0.01, 0.03)}),
    ("Pendulum-v1", {"g": ("uniform", 8, 12), "max_torque": ("uniform", 1, 3)}),
    ("Acrobot-v1", {"LINK_LENGTH_1": ("uniform", 0.5, 2)}),
    ("Hopper-v5", {"body_mass": ("scale", 0.7, 1.3), "gravity": ("uniform", [0, 0, -12], [0, 0, -8])}),
    ("CheetahRun-v1", {"geom_friction": ("scale", 0.5, 1.5, "shared")}),
]


@pytest.mark.parametrize(("task", "randomize"), TASKS)
@pytest.mark.parametrize("mode", ["next_step", "same_step"])
def test_an_episode_equals_one_whose_parameters_were_set(task, randomize, mode):
    """The env's own generator does not notice the draws."""
    options = {"num_envs": 2, "seed": 3, "max_episode_steps": 7, "autoreset_mode": mode}
    with (
        envpool.make_gymnasium(task, **options, randomize=randomize) as pool,
        envpool.make_gymnasium(task, **options) as plain,
    ):
        seen = {name: set() for name in randomize}
        for k in range(24):
            actions = pool.sample_actions(k)
            own = pool.step(actions) if k else pool.reset()
            drawn = {name: pool.get_params(in_force=True)[name] for name in randomize}
            plain.set_params(drawn)  # from the same reset on
            other = plain.step(actions) if k else plain.reset()
            assert_same(own, other)
            for name, values in drawn.items():
                seen[name] |= {value.tobytes() for value in values}
        assert all(len(values) == 2 * (4 if mode == "same_step" else 3) for values in seen.values())


def test_without_draws_nothing_changes():
    with make(randomize=None) as pool, make(randomize={}) as same:
        assert play(pool) == play(same)
        assert pool.spec == same.spec


def test_values_of_each_environment_are_nominal():
    with make(masscart=[1.0, 2.0, 4.0], randomize={"masscart": ("scale", 0.5, 2)}) as pool:
        pool.reset()
        factors = [0.5 + 1.5 * stream(8 + i).random() for i in range(3)]
        assert pool.get_params(in_force=True)["masscart"].tolist() == (np.array(factors) * [1, 2, 4]).tolist()


def test_spaces_contain_what_is_drawn():
    ranges = {"max_torque": ("uniform", 1, 5), "max_speed": ("scale", 0.5, 2)}
    spec = envpool.make_spec("Pendulum-v1", randomize=ranges)
    assert spec.action_space.high.tolist() == [5]
    assert spec.observation_space.high.tolist() == [1, 1, 16]
    spec = envpool.make_spec(
        "MountainCar-v0", randomize={"min_position": ("uniform", -2, -1), "force": ("scale", 1, 2)}
    )
    assert spec.observation_space.low[0] == -2
    spec = envpool.make_spec("CartPole-v1", randomize={"gravity": ("normal", 9.8, 1)})
    assert spec.common_config.gravity == 9.8


# ---- the same draws --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
def test_states_continue_the_draws(mode):
    with make(autoreset_mode=mode) as pool, make(autoreset_mode=mode, seed=100, num_threads=2) as other:
        unborn = pool.get_state()
        whole = play(pool, 40)
        states = pool.get_state()
        rest = play(pool)
        other.set_state(states)
        assert play(other) == rest
        pool.set_state(states)
        assert play(pool) == rest
        other.set_state(unborn)
        assert play(other, 40) == whole


def test_states_of_pools_that_draw_nothing():
    """The draws of an environment that has not drawn yet begin with its seed, also if they begin after a restore."""
    with make() as pool, make(randomize=None) as plain, make(randomize=None, seed=1) as other:
        plain.reset(seed=70)
        without = plain.get_state()
        pool.reset()
        pool.set_state(without)
        other.set_state(without)
        other.set_randomize(RANGES)
        for each in (pool, other):
            each.reset()
            lengths = np.exp([np.log(0.2) + np.log(10) * stream(70 + i).random() for i in range(3)])
            assert each.get_params(in_force=True)["length"] == pytest.approx(lengths, rel=1e-14)
        plain.set_state(pool.get_state())
        plain.reset()
        assert plain.get_params(in_force=True)["length"] == pytest.approx(lengths, rel=1e-14)
        assert len(bytes(pool.get_state(0))) - len(bytes(without[0])) == 48


def test_copies_have_the_future_of_their_source():
    with make() as pool:
        play(pool, 30)
        pool.copy_state([0, 0], [1, 2])
        for row in play(pool):
            for part in row:
                assert part == 3 * part[: len(part) // 3]


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda pool: pickle.loads(pickle.dumps(pool))])
@pytest.mark.parametrize("changes", [False, True])
def test_pickled_pools_continue_the_draws(duplicate, changes):
    with make() as pool:
        play(pool, 30)
        if changes:
            pool.set_randomize({"length": ("uniform", 1, 2)}, [1])
            pool.set_randomize(None, [2])
        with duplicate(pool) as other:
            assert other.get_randomize() == pool.get_randomize()
            assert play(other) == play(pool)


def test_async_pools_and_partial_resets_draw_the_same_values():
    with make() as pool, make(batch_size=1, num_threads=3) as other:
        seen = []
        for each in (pool, other):
            each.async_reset()
            each.recv(min_ready=3)
            for ids in ([2], [0, 1], [1]):
                each.reset(ids)
            each.reset(np.arange(3), seed=[5, None, None])
            seen.append([each.get_params(in_force=True)[name].tolist() for name in RANGES])
        assert seen[0] == seen[1]


def test_integers_of_tasks_with_players():
    options = {"num_envs": 40, "seed": 0, "randomize": {"curriculum_stage": ("uniform", 0, 2)}}
    with envpool.make_gymnasium("MPE/simple_tag-v3", **options) as pool:
        pool.reset()
        stages = pool.get_params(in_force=True)["curriculum_stage"]
        assert stages.tolist() == [stream(i).integers(0, 3) for i in range(40)]


def test_transforms_rollouts_and_vector_environments():
    lengths = [np.exp(np.log(0.2) + np.log(10) * stream(8 + i).random()) for i in range(3)]
    vec = gymnasium.make_vec("envpool/CartPole-v1", num_envs=3, seed=8, randomize=RANGES)
    with make(frame_stack=2, normalize_obs=True) as pool, vec.unwrapped.pool as inner:
        envpool.Rollout(pool, 4).reset()
        vec.reset()
        for each in (pool, inner):
            assert each.get_params(in_force=True)["length"] == pytest.approx(lengths, rel=1e-14)


# ---- damaged and forged states ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("offset", "value"),
    [
        (14 + 1, 2),  # neither with nor without a generator
        (15, 0),  # its bytes are the snapshot's
        (13, 1),  # not seeded, but with a generator
        (32 + 24, 2),  # an even increment, from which draws might not end
        (32 + 36, 7),
    ],
)
def test_forged_generators_are_refused(offset, value):
    with make() as pool:
        pool.reset()
        before = pool.get_state()
        body = body_of(before[1])
        body[core_at(before[1]) + offset] = value
        with pytest.raises(StateError, match="values that get_state"):
            pool.set_state(sealed(body), 1)
        assert pool.get_state() == before


# ---- any order of calls ----------------------------------------------------------------------------------------------

CHOICES = [
    {},
    {"length": ("uniform", 0.5, 1)},
    {"masscart": ("scale", 0.5, 2), "length": ("uniform", 1, 3)},
    {"gravity": ("choice", [1.0, 2.0, 3.0])},
]
NOMINAL = {"gravity": 9.8, "masscart": 1.0, "length": 0.5}


class Env:
    """What is expected of an environment."""

    def __init__(self, seed):
        self.seed, self.is_seeded, self.rng = seed, False, None
        self.ranges, self.in_force, self.pending = {}, dict(NOMINAL), None

    def put(self, values):
        self.pending = (self.pending or self.in_force) | values

    def set_ranges(self, ranges):
        dropped = {name: NOMINAL[name] for name in self.ranges if name not in ranges}
        if dropped:
            self.put(dropped)
        self.ranges = ranges

    def reset(self, seed=None):
        if seed is not None:
            self.seed, self.is_seeded = seed, False
        if not self.is_seeded:
            self.is_seeded, self.rng = True, None
        values = dict(self.pending or self.in_force)
        for name, (kind, *arguments) in self.ranges.items():
            self.rng = self.rng or stream(self.seed)
            if kind == "choice":
                values[name] = arguments[0][self.rng.integers(len(arguments[0]))]
            else:
                factor = arguments[0] + (arguments[1] - arguments[0]) * self.rng.random()
                values[name] = factor if kind == "uniform" else NOMINAL[name] * factor
        self.in_force, self.pending = values, None

    def save(self):
        if not self.is_seeded:
            return self.seed, self.pending or self.in_force
        return copy.deepcopy((self.seed, self.in_force, self.pending, self.rng))

    def restore(self, saved):
        saved = copy.deepcopy(saved)
        if len(saved) == 2:
            (self.seed, self.pending), self.is_seeded = saved, False
        else:
            self.seed, self.in_force, self.pending, self.rng = saved
            self.is_seeded = True


IDS = st.integers(0, 2)


class DrawsMachine(RuleBasedStateMachine):
    """Calls a pool, and the model alongside."""

    @initialize(num_threads=st.integers(1, 3), ranges=st.sampled_from(CHOICES))
    def make(self, num_threads, ranges):
        self.pool = make(num_threads=num_threads, randomize=ranges, seed=2**33)
        self.envs = [Env(2**33 + i) for i in range(3)]
        for env in self.envs:
            env.set_ranges(ranges)
            if ranges:
                env.put({})
        self.saved = []

    def teardown(self):
        if hasattr(self, "pool"):
            self.pool.close()

    @rule(ids=st.sets(IDS, min_size=1), seed=st.none() | st.integers(0, 9))
    def reset(self, ids, seed):
        self.pool.reset(list(ids), seed=None if seed is None else [seed] * len(ids))
        for i in ids:
            self.envs[i].reset(seed)

    @rule(i=IDS, ranges=st.sampled_from(CHOICES))
    def set_randomize(self, i, ranges):
        self.pool.set_randomize(ranges, i)
        self.envs[i].set_ranges(ranges)

    @rule(i=IDS, name=st.sampled_from(list(NOMINAL)), value=st.sampled_from([0.7, 1.5]))
    def set_params(self, i, name, value):
        if name not in self.envs[i].ranges:
            self.pool.set_params({name: value}, i)
            self.envs[i].put({name: value})

    @rule(i=IDS)
    def save(self, i):
        self.saved.append((self.pool.get_state(i), self.envs[i].save()))

    @rule(i=IDS, k=st.integers(0, 3))
    def restore(self, i, k):
        for states, saved in self.saved[k : k + 1]:
            self.pool.set_state(states, i)
            self.envs[i].restore(saved)

    @rule(i=IDS, k=IDS)
    def copy_state(self, i, k):
        if i != k:
            self.pool.copy_state(i, k)
            self.envs[k].restore(self.envs[i].save())

    @rule()
    def pickle(self):
        old, self.pool = self.pool, pickle.loads(pickle.dumps(self.pool))
        old.close()
        for env in self.envs:
            env.restore(env.save())

    @invariant()
    def the_parameters_are_those_of_the_model(self):
        if hasattr(self, "pool"):
            found = self.pool.get_params(in_force=True), self.pool.get_params()
            for i, env in enumerate(self.envs):
                assert {name: found[1][name][i] for name in NOMINAL} == (env.pending or env.in_force)
                if env.is_seeded:
                    assert {name: found[0][name][i] for name in NOMINAL} == env.in_force


@pytest.mark.parametrize("max_examples", [8, pytest.param(100, marks=pytest.mark.slow)])
def test_any_order_of_calls(max_examples):
    run_state_machine_as_test(
        DrawsMachine,
        settings=settings(
            max_examples=max_examples, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
