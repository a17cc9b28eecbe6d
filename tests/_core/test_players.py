"""Envs whose players come and go: every batch is compared with a model in plain Python."""

import random

import numpy as np
import pytest

import envpool
from envpool.errors import ActionError
from tests._core import crowds
from tests._core.crowds import MODES, play, some_actions
from tests.support.crowd import CheckedCrowd

VIEWS = ["rows", "grid", "dict"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("groups", [False, True])
def test_batches_are_those_of_the_model(mode, view, groups):
    crowd = CheckedCrowd(6, autoreset_mode=mode, players=view, groups=groups, num_threads=2, max_episode_steps=9)
    play(crowd, np.random.default_rng(1), 40)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("on_error", ["raise", "restart"])
def test_async_batches_are_those_of_the_model(mode, on_error):
    crowd = CheckedCrowd(7, 3, mode, num_threads=3, on_error=on_error, fail_reset=2)
    play(crowd, np.random.default_rng(2), 60)


@pytest.mark.parametrize("form", ["rows", "grid", "dict", "envpool"])
@pytest.mark.parametrize("view", VIEWS)
def test_every_form_of_actions_is_accepted_in_every_view(form, view):
    crowd = CheckedCrowd(5, players=view, groups=True, num_threads=2)
    play(crowd, np.random.default_rng(3), 15, form=form)


@pytest.mark.parametrize("batch_size", [0, 2])
@pytest.mark.parametrize("mode", MODES)
def test_partial_batches(mode, batch_size):
    rng = np.random.default_rng(4)
    crowd = CheckedCrowd(6, batch_size, mode, num_threads=2)
    crowd.start()
    for t in range(40):
        ended = [i for i in crowd.idle() if i not in crowd.steppable()]
        if ended:
            crowd.reset(np.array(ended))
        ids = crowd.steppable()
        crowd.send(ids, some_actions(crowd, ids, rng))
        flying = list(crowd.in_flight)
        rng.shuffle(flying)
        crowd.recv(env_id=np.array(flying[: 1 + t % 3]))
        if t % 5 == 0:
            crowd.recv(min_ready=len(crowd.in_flight))
    crowd.close()


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("constant", [True, False])
def test_arrays_are_yours_and_only_compacting_copies(view, constant):
    """No copy between rows and grid when all players are present: the arrays are the memory of the batch."""
    crowd = CheckedCrowd(4, players=view, constant=constant, places=3, num_threads=1)
    crowd.start()
    held = []
    for t in range(30):
        ids = crowd.steppable()
        crowd.send(ids, np.full((4, 3), t % 3))
        obs, reward, *_ = crowd.recv()
        arrays = [*obs.values(), *reward.values()] if view == "dict" else [obs, reward]
        held += [(a, a.copy()) for a in arrays]
        if constant or view != "rows":
            assert all(a.base is not None for a in arrays)
        assert all(a.flags.writeable for a in arrays)
    for a, copy in held:
        np.testing.assert_array_equal(a, copy)
    crowd.close()


@pytest.mark.parametrize("view", ["rows", "grid"])
def test_an_action_that_is_no_integer_is_named(view):
    with envpool.make_gymnasium("MPE/simple_spread-v3", num_envs=1, players=view) as pool:
        pool.reset()
        for value in (0.5, np.nan, 1e30):
            with pytest.raises(
                ActionError, match=rf"player 1 of env 0 must have .* 0 to 4, got {value}".replace("+", "\\+")
            ):
                pool.step(np.array([0, value, 0]).reshape((1, 3) if view == "grid" else 3))


def test_a_recycled_batch_shows_nothing_of_earlier_players():
    crowd = CheckedCrowd(3, players="grid", num_threads=1)
    play(crowd, np.random.default_rng(5), 30)
    assert crowd.pool._blocks_allocated < 10


@pytest.mark.slow
def test_ten_thousand_threaded_batches():
    crowd = CheckedCrowd(64, num_threads=4, autoreset_mode="next_step")
    play(crowd, np.random.default_rng(6), 10_000, dangerous=0.001)


def test_threaded_batches():
    crowd = CheckedCrowd(64, num_threads=4)
    play(crowd, np.random.default_rng(6), 12, dangerous=0.001)


@pytest.mark.parametrize("seed", range(20))
def test_any_use_of_any_pool(seed):
    crowds.any_use(random.Random(seed))
