"""Everything that a pool can do, with every kind of players: each cell works, or raises an error with a way out."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError, StateError

STEPS = 12


def python_parallel(**options: Any) -> Any:
    from mpe2 import simple_spread_v3

    return envpool.make_python(lambda: simple_spread_v3.parallel_env(render_mode="rgb_array"), **options)


def python_turns(**options: Any) -> Any:
    from pettingzoo.classic import connect_four_v3

    return envpool.make_python(lambda: connect_four_v3.env(render_mode="rgb_array"), **options)


def task(task_id: str, **fixed: Any) -> Callable[..., Any]:
    return lambda env_type="gymnasium", **options: envpool.make(task_id, env_type, **(fixed | options))


POOLS: dict[str, Callable[..., Any]] = {
    "rows": task("MPE/simple_tag-v3", players="rows"),
    "grid": task("MPE/simple_tag-v3", players="grid"),
    "dict": task("MPE/simple_tag-v3", players="dict"),
    "turns": task("ConnectFour-v0", players="grid"),
    "current": task("ConnectFour-v0", observe="current"),
    "opponents": task("ConnectFour-v0", controlled=0),
    "alternate": task("ConnectFour-v0", controlled="alternate"),
    "together": task("MPE/simple_tag-v3", controlled="adversary", players="grid"),
    "python": python_parallel,
    "python_turns": python_turns,
}


def make(kind: str, **options: Any) -> Any:
    return POOLS[kind](**{"num_envs": 3, "num_threads": 1} | options)


def use(pool: Any, steps: int = STEPS) -> Any:
    with pool:
        result = pool.reset()
        for _ in range(steps):
            result = pool.step(pool.sample_actions())
        return result


def run_async(kind: str) -> None:
    with make(kind, batch_size=2) as pool:
        pool.async_reset()
        for _ in range(STEPS):
            ids = pool.recv()[-1]["env_id"]
            assert len(ids) == 2
            pool.send(pool.sample_actions(env_id=ids), ids)


def run_partial(kind: str) -> None:
    with make(kind) as pool:
        pool.reset()
        for _ in range(3):
            pool.send(pool.sample_actions())
            seen: list[int] = []
            while pool.num_outstanding:
                seen += pool.recv(min_ready=1)[-1]["env_id"].tolist()
            assert sorted(seen) == [0, 1, 2]


def run_statistics(kind: str) -> None:
    pool = make(kind, episode_statistics=True, finished_episodes=True)
    use(pool, 60)
    stats = pool.stats()
    assert stats.episodes and len(stats.mean_player_returns) == pool.spec.num_players
    assert sum(stats.mean_group_returns.values()) == pytest.approx(sum(stats.mean_player_returns))


def run_transforms(kind: str) -> None:
    use(make(kind, normalize_obs=True, normalize_reward=True, clip_reward=5.0, time_aware=False))


def run_rollout(kind: str) -> None:
    with make(kind) as pool:
        rollout = envpool.Rollout(pool, STEPS)
        rollout.reset()
        for _ in range(STEPS):
            rollout.step(pool.sample_actions())
        data = rollout.finish()
        places = len(pool.spec.shown_players)
        assert data.player_valid.shape == data.reward.shape == (STEPS, 3, places)
        assert data.player_valid.any()
        values, ends = np.zeros_like(data.reward), (data.player_terminated, data.player_truncated)
        advantages, _ = envpool.rollout.gae(data.reward, values, values[0], *ends, mask=data.player_valid)
        assert advantages.shape == data.reward.shape


def run_states(kind: str) -> None:
    with make(kind) as pool:
        pool.reset()
        states = pool.get_state()
        actions = pool.sample_actions()
        first = pool.step(actions)[1]
        pool.set_state(states)
        if "opponents" not in kind and kind not in (
            "alternate",
            "together",
        ):  # random opponents have their own generator
            np.testing.assert_equal(pool.step(actions)[1], first)
        else:
            pool.step(actions)


def run_pickle(kind: str) -> None:
    with make(kind) as pool:
        pool.reset()
        pool.step(pool.sample_actions())
        use(pickle.loads(pickle.dumps(pool)))


def run_render(kind: str) -> None:
    with make(kind, render_mode="rgb_array") as pool:
        pool.reset()
        assert pool.render().ndim in (3, 4)


def run_xla(kind: str) -> None:
    pytest.importorskip("jax")
    with make(kind) as pool:
        pool.reset()
        handle, _, _, step = pool.xla()
        step(handle, pool.sample_actions())


def run_evaluate(kind: str) -> None:
    with make(kind) as pool:
        assert envpool.evaluate("random", pool, 3).returns.size


def run_record(kind: str, tmp_path: Any = None) -> None:
    with make(kind) as pool:
        envpool.record(pool, "random", tmp_path, steps=2 * STEPS)


def run_replay(kind: str) -> None:
    with make(kind) as pool:
        buffer = envpool.ReplayBuffer(pool, 300)
        buffer.reset()
        for _ in range(STEPS):
            buffer.step(pool.sample_actions())
        assert buffer.sample(5).reward.shape == (5,)


def run_draws(kind: str) -> None:
    """The stages that are drawn do not depend on threads and batches."""
    found = []
    for options in ({}, {"num_threads": 2}):
        own = {"curriculum": True, "max_cycles": 3} if kind in ("rows", "grid", "dict", "together") else {}
        pool = make(kind, randomize={"curriculum_stage": ("choice", [0, 1, 2])}, seed=3, **own, **options)
        found.append(use(pool, 20)[0])
    np.testing.assert_equal(*found)


RUNS: dict[str, Callable[..., None]] = {
    "draws": run_draws,
    "async": run_async,
    "partial": run_partial,
    "statistics": run_statistics,
    "transforms": run_transforms,
    "rollout": run_rollout,
    "states": run_states,
    "pickle": run_pickle,
    "render": run_render,
    "xla": run_xla,
    "evaluate": run_evaluate,
    "record": run_record,
    "replay": run_replay,
    "gym": lambda kind: use(make(kind, env_type="gym")),
    "dm": lambda kind: use(make(kind, env_type="dm")),
}
ROWS = (ConfigError, "make the pool with players='grid'")
OPPONENTS = (ConfigError, "make the pool without the option controlled")
TURNS = (ConfigError, "one controlled player, such as controlled=0")
NO_SNAPSHOTS = (StateError, "reset with the same seed and to repeat the actions")
NO_PICKLES = (StateError, "pools of Python environments cannot be pickled or copied")
NO_PARAMS = (ConfigError, "has no parameters")
#: The cells that make no sense, and what their errors say.
REFUSED: dict[tuple[str, str], tuple[type[Exception], str]] = {
    **{("xla", kind): ROWS for kind in ("rows", "current", "python", "python_turns")},
    **{("xla", kind): OPPONENTS for kind in ("opponents", "alternate", "together")},
    **{("replay", kind): TURNS for kind in ("turns", "current", "python_turns")},
    **{("states", kind): NO_SNAPSHOTS for kind in ("python", "python_turns")},
    **{("pickle", kind): NO_PICKLES for kind in ("python", "python_turns")},
    **{("draws", kind): NO_PARAMS for kind in ("turns", "current", "opponents", "alternate", "python", "python_turns")},
    ("record", "alternate"): (ConfigError, "controlled='alternate'"),
}


@pytest.mark.parametrize("what", RUNS)
@pytest.mark.parametrize("kind", POOLS)
def test_cell(what: str, kind: str, tmp_path: Any) -> None:
    arguments = {"tmp_path": tmp_path / "episodes.npz"} if what == "record" else {}
    if (what, kind) not in REFUSED:
        RUNS[what](kind, **arguments)
        return
    error, text = REFUSED[what, kind]
    with pytest.raises(error, match=text.replace("(", r"\(")):
        RUNS[what](kind, **arguments)
