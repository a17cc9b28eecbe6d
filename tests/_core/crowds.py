"""Random pools of envs with players under random use, for sanitizers: ``python -m tests._core.crowds SECONDS [SEED]``.

Every batch is compared with the model in every place of every player: rows in order, ids right, every row once.
"""

import random
import sys
import time

import numpy as np

import envpool
from tests.support.crowd import CUT, DIE, END, FAIL, CheckedCrowd
from tests.support.process import wait_until, workers
from tests.support.turns import MOVES, CheckedTurns

MODES = ("next_step", "same_step", "disabled")


def some_actions(crowd, ids, rng, dangerous=0.02):
    """Return actions (n, places); now and then one that ends something."""
    actions = rng.integers(0, 11, (len(ids), crowd.places))
    is_special = rng.random(actions.shape) < dangerous
    actions[is_special] = rng.choice([DIE, CUT, END, FAIL], is_special.sum())
    if crowd.pool.spec.config.groups:
        actions[:, -1] = np.minimum(actions[:, -1], 10)
    return actions


def play(crowd, rng, rounds, dangerous=0.02, form=None):
    """Step idle envs again and again, those that need it after a reset."""
    crowd.start()
    for _ in range(rounds):
        crowd.reset_ended()
        ids = crowd.steppable()
        if ids:
            rng.shuffle(ids)
            crowd.send(ids, some_actions(crowd, ids, rng, dangerous), form)
        crowd.recv_batches()
    crowd.close()


def any_options(pick):
    """Return options of any pool."""
    num_envs = pick.choice([1, 2, 3, 8, 33, 64])
    return {
        "num_envs": num_envs,
        "batch_size": pick.choice([0, 0, max(1, num_envs // 3), max(1, num_envs // 2)]),
        "num_threads": pick.choice([1, 2, 3, 4, 20]),
        "autoreset_mode": pick.choice(MODES),
        "players": pick.choice(["rows", "grid", "dict"]),
        "places": pick.choice([2, 3, 5, 8]),
        "groups": pick.random() < 0.3,
        "constant": pick.random() < 0.2,
        "episode_length": pick.choice([0, 3, 12]),
        "max_episode_steps": pick.choice([2, 5, 2**31 - 1]),
        "fail_reset": pick.choice([-1, 0, 2]),
        "on_error": pick.choice(["raise", "restart"]),
        "episode_statistics": pick.random() < 0.5,
        "seed": pick.randrange(1000),
    }


def any_use(pick):
    """Make any calls in any order, check every result, and hold some batches."""
    crowd = CheckedCrowd(**any_options(pick))
    rng = np.random.default_rng(pick.randrange(10**9))
    held = []
    crowd.start()
    for _ in range(pick.choice([5, 40, 150])):
        act = pick.random()
        flying = list(crowd.in_flight)
        if act < 0.3 and flying:
            wish = pick.choice(
                [
                    {"env_id": np.array(pick.sample(flying, pick.randint(1, len(flying))), np.int32)},
                    {"min_ready": pick.randint(0, len(flying))},
                    {"timeout": 1e-4},
                ]
            )
            batch = crowd.recv(**wish)
            if pick.random() < 0.3 and crowd.view != "dict":
                held.append((batch[0], batch[0].copy()))
        elif act < 0.5:
            crowd.recv_batches()
        elif act < 0.55:
            crowd.sent_reset()
            crowd.pool.async_reset()
        elif act < 0.65:
            crowd.reset_ended()
        else:
            ids = pick.sample(crowd.steppable(), pick.randint(0, len(crowd.steppable())))
            crowd.send(ids, some_actions(crowd, ids, rng).reshape(len(ids), crowd.places))
    for array, copy in held:
        np.testing.assert_array_equal(array, copy)
    crowd.close()


def any_games(pick):
    """Play games with turns in any pool, in any form of moves; now and then move to another pool with the states."""
    num_envs = pick.choice([1, 2, 3, 8, 33])
    options = {
        "num_envs": num_envs,
        "batch_size": pick.choice([0, 0, max(1, num_envs // 3)]),
        "num_threads": pick.choice([1, 2, 4]),
        "autoreset_mode": pick.choice(MODES),
        "players": pick.choice(["rows", "grid", "dict"]),
        "places": pick.choice([2, 3, 5]),
        "masks": pick.choice(["none", "mover", "players"]),
        "observe": pick.choice(["all", "current"]),
        "groups": pick.random() < 0.3,
        "max_episode_steps": pick.choice([1, 5, 2**31 - 1]),
        "on_error": pick.choice(["raise", "restart"]),
        "episode_statistics": pick.random() < 0.5,
        "seed": pick.randrange(1000),
    }
    if options["masks"] != "none":
        options["illegal_actions"] = pick.choice(["raise", "lose"])
    games = CheckedTurns(**options)
    play_games(games, np.random.default_rng(pick.randrange(10**9)), pick.choice([5, 40, 100]), pick.random() < 0.3)


def play_games(games, rng, rounds, copies=False, forms=("moves", "rows", "grid", "dict", "envpool")):
    """Step idle games again and again with any moves that the pool accepts; `copies` restores states in between."""
    is_lax = games.pool.spec.config.illegal_actions == "lose"
    games.start()
    for _ in range(rounds):
        games.reset_ended()
        ids = games.steppable()
        if ids:
            rng.shuffle(ids)
            moves = [int(rng.choice(range(MOVES) if is_lax else games.envs[i].legal_moves())) for i in ids]
            games.send(ids, moves, rng, forms[rng.integers(len(forms))])
        games.recv_batches()
        if copies and not games.in_flight:
            ids = [i for i in games.idle() if not games.envs[i].failed]
            games.pool.set_state(games.pool.get_state(ids), ids)
    games.close()


def answer(obs, info):
    """Return a legal move for each row of observations of ConnectFour, which depends on nothing else."""
    stones = obs.reshape(len(obs), -1) @ np.arange(1, 1 + obs[0].size)
    ranks = (np.arange(7) * 3 + stones[:, None]) % 7 + 100 * ~info["legal_action_mask"]
    return ranks.argmin(1)


def any_opponents(pick):
    """Play against opponents in any pool: each env must go on as in a sync pool with one thread."""
    num_envs = pick.choice([1, 2, 3, 8, 33, 64])
    options = {
        "num_envs": num_envs,
        "autoreset_mode": pick.choice(["next_step", "same_step"]),
        "controlled": pick.choice([0, 1, [0], "alternate"]),
        "opponents": answer,
        "observe": pick.choice(["all", "current"]),
        "max_episode_steps": pick.choice([2, 5, 2**31 - 1]),
        "seed": pick.randrange(1000),
    }
    sizes = {"batch_size": pick.choice([0, max(1, num_envs // 3)]), "num_threads": pick.choice([1, 2, 4])}
    found = opposed(pick, pick.choice([5, 30]), **options, **sizes)
    steps = max(len(rows) for rows in found)
    expected = opposed(None, steps, **options, num_threads=1)
    for rows, others in zip(found, expected, strict=True):
        assert rows == others[: len(rows)]


def opposed(pick, rounds, **options):
    """Return what each env has returned, as bytes, after `rounds` batches; `pick` chooses partial ones."""
    found = [[] for _ in range(options["num_envs"])]
    with envpool.make_gymnasium("ConnectFour-v0", players="rows", **options) as pool:
        pool.async_reset()
        for round_ in range(rounds + 1):
            limits = {}
            if pick is not None and pick.random() < 0.5:
                limits = {"min_ready": pick.randint(0, pool.num_outstanding), "timeout": pick.choice([None, 0.0, 1e-4])}
            obs, reward, terminated, truncated, info = pool.recv(**limits)
            ids, owners = info["env_id"], info["players"]["env_id"]
            assert len(set(ids.tolist())) == len(ids)
            assert (owners.tolist() == [i for i in ids.tolist() for _ in range((owners == i).sum())]) or not len(ids)
            moves = []
            for k, i in enumerate(ids.tolist()):
                rows = owners == i
                parts = obs[rows], reward[rows], terminated[k], truncated[k], info["legal_action_mask"][k]
                found[i].append(b"".join(part.tobytes() for part in parts))
                legal = np.flatnonzero(info["legal_action_mask"][k])
                moves.append(legal[(7 * i + 3 * len(found[i])) % len(legal)] if len(legal) else 0)
            if round_ < rounds and len(ids):
                pool.send(np.array(moves, np.int64), ids)
            elif round_ < rounds and not pool.num_outstanding:
                break
    return found


def main(seconds, seed):
    end = time.monotonic() + seconds
    rounds = 0
    while time.monotonic() < end:
        pick = random.Random(seed * 1_000_003 + rounds)
        try:
            (any_use, any_games, any_use, any_opponents)[rounds % 4](pick)
        except BaseException:
            print(f"seed {seed}, round {rounds}", file=sys.stderr, flush=True)
            raise
        rounds += 1
    wait_until(lambda: not workers())
    print(f"{rounds} rounds in {seconds:g} s, seed {seed}: nothing found")


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns() % 10**6)
