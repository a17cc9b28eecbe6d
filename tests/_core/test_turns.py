"""Envs whose players move in turn: every batch is compared with a model in plain Python."""

import random

import numpy as np
import pytest

import envpool
from envpool._core.definition import describe
from envpool.errors import ActionError, ConfigError, EnvIdError
from envpool.native import Field, define
from envpool.rollout import Rollout
from tests._core import crowds
from tests._core.crowds import MODES, play_games
from tests.support import plugin
from tests.support.turns import CheckedTurns

VIEWS = ["rows", "grid", "dict"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("observe", ["all", "current"])
def test_batches_are_those_of_the_model(mode, view, observe):
    games = CheckedTurns(5, autoreset_mode=mode, players=view, observe=observe, groups=True, max_episode_steps=9)
    play_games(games, np.random.default_rng(1), 30)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("observe", ["all", "current"])
@pytest.mark.parametrize("on_error", ["raise", "restart"])
def test_async_batches_are_those_of_the_model(mode, observe, on_error):
    games = CheckedTurns(7, 3, mode, observe=observe, on_error=on_error, masks="players", num_threads=3)
    play_games(games, np.random.default_rng(2), 40)


@pytest.mark.parametrize("form", ["moves", "rows", "grid", "dict", "envpool"])
@pytest.mark.parametrize("view", VIEWS)
def test_every_form_of_moves_is_accepted_in_every_view(form, view):
    games = CheckedTurns(4, players=view, groups=True)
    play_games(games, np.random.default_rng(3), 15, forms=(form,))


@pytest.mark.parametrize("observe", ["all", "current"])
def test_states_have_turns_and_masks_and_what_players_are_owed(observe):
    games = CheckedTurns(4, observe=observe, masks="players", episode_statistics=True)
    play_games(games, np.random.default_rng(4), 30, copies=True)


@pytest.mark.parametrize("seed", range(12))
def test_any_games_of_any_pool(seed):
    crowds.any_games(random.Random(seed))


def test_a_copied_state_has_the_mask_of_its_source():
    with plugin.make_task("Turns-v0", num_envs=2, places=2) as pool:
        pool.reset()
        masks = pool._legal_mask([0, 1])
        assert (masks[0] != masks[1]).any()
        pool.copy_state([0], [1])
        np.testing.assert_array_equal(pool._legal_mask([1]), masks[:1])


@pytest.mark.parametrize("form", ["moves", "rows", "grid"])
def test_an_illegal_move_is_refused_and_nothing_is_sent(form):
    with envpool.make_gymnasium("ConnectFour-v0", num_envs=2) as pool:
        pool.reset()
        for _ in range(6):
            pool.step(np.array([3, 2]))
        before = bytes(pool.get_state())
        moves = {"moves": np.array([0, 2]), "rows": np.array([0, 9, 2, 9]), "grid": np.array([[0, 9], [2, 9]])}[form]
        with pytest.raises(ActionError, match=r"player 0 of env 1 .* one of \[0, 1, 3, 4, 5, 6\], got 2: .*'lose'"):
            pool.step(moves)
        assert bytes(pool.get_state()) == before
        obs, *_ = pool.step(np.array([0, 0]))
        assert obs.shape == (4, 6, 7, 2)


def test_with_lose_the_game_gets_an_illegal_move():
    with envpool.make_gymnasium("ConnectFour-v0", num_envs=2, illegal_actions="lose") as pool:
        pool.reset()
        for _ in range(6):
            pool.step(np.array([3, 3]))
        _, reward, terminated, *_ = pool.step(np.array([3, 2]))
        assert terminated.tolist() == [True, False] and reward.tolist() == [-1, 1, 0, 0]


def test_moves_out_of_bounds_are_refused_with_lose_as_well():
    with envpool.make_gymnasium("ConnectFour-v0", illegal_actions="lose") as pool:
        pool.reset()
        with pytest.raises(ActionError, match="integers from 0 to 6, got 7"):
            pool.step(np.array([7]))


def test_wrong_shapes_name_what_is_expected():
    with envpool.make_gymnasium("ConnectFour-v0", num_envs=3) as pool:
        pool.reset()
        with pytest.raises(ActionError, match=r"shape \(3,\), the move of each .* \(6,\), .* \(3, 2\), .* got \(4,\)"):
            pool.step(np.zeros(4, int))
        with pytest.raises(ActionError, match=r"shape \(3,\), .* got \(3, 3\)"):
            pool.step(np.zeros((3, 3), int))


@pytest.mark.parametrize("masks", ["none", "mover", "players"])
def test_samples_are_legal_and_all_legal_moves_occur(masks):
    with plugin.make_task("Turns-v0", num_envs=3, masks=masks) as pool:
        pool.reset()
        legal = np.ones((3, 7), bool) if masks == "none" else pool._legal_mask([0, 1, 2])
        seen = np.zeros((3, 7), bool)
        for _ in range(200):
            moves = pool.sample_actions()
            assert moves.dtype == np.int32 and moves.shape == (3,)
            seen[np.arange(3), moves] = True
        np.testing.assert_array_equal(seen, legal)
        assert pool.sample_actions(7, [1]).tolist() == pool.sample_actions(7, [1]).tolist()


def test_samples_for_envs_in_flight_are_refused():
    with envpool.make_gymnasium("ConnectFour-v0", num_envs=2) as pool:
        pool.async_reset()
        with pytest.raises(EnvIdError, match="in flight"):
            pool.sample_actions()


def test_rollouts_record_masks_and_who_acts():
    with envpool.make_gymnasium("ConnectFour-v0", num_envs=2, players="grid") as pool:
        rollout = Rollout(pool, 60)
        rollout.reset()
        moves = []
        for _ in range(60):
            moves.append(pool.sample_actions())
            rollout.step(moves[-1])
        data = rollout.finish()
        mask, turn = data.legal_action_mask, data.current_player
        assert mask.shape == (60, 2, 7) and data.action.shape == turn.shape == (60, 2)
        np.testing.assert_array_equal(data.action, moves)
        assert np.take_along_axis(mask, data.action[..., None], 2)[data.valid].all()
        np.testing.assert_array_equal(data.player_valid.sum(2), data.valid)
        np.testing.assert_array_equal(data.player_valid.argmax(2)[data.valid], turn[data.valid])
        np.testing.assert_array_equal(turn[1:], data.info["current_player"][:-1])
        np.testing.assert_array_equal(mask[1:], data.info["legal_action_mask"][:-1])
        assert data.done.any()


@pytest.mark.parametrize("option", [{"observe": "all"}, {"illegal_actions": "lose"}])
def test_options_of_turns_are_refused_elsewhere(option):
    for task in ("CartPole-v1", "MPE/simple_spread-v3"):
        with pytest.raises(ConfigError, match="not turn-based"):
            envpool.make_spec(task, **option)


def test_illegal_actions_need_a_mask():
    plugin.load()
    with pytest.raises(ConfigError, match="which moves are legal"):
        envpool.make_spec("Turns-v0", masks="none", illegal_actions="lose")


TURN, MASK = Field("info:current_player", np.int32), Field("info:legal_action_mask", np.bool_, (7,))
MOVE = Field("action", np.int32, (), 0, 6)


@pytest.mark.parametrize(
    ("fields", "actions", "options", "text"),
    [
        ([TURN, MASK], [MOVE], {"max_num_players": None}, "turns need players"),
        ([MASK], [MOVE], {}, "there must be a field 'info:current_player'"),
        ([TURN._replace(dtype=np.int64)], [MOVE], {}, "of dtype int32"),
        ([TURN], [MOVE._replace(shape=(-1,))], {}, "must not begin with -1"),
        ([TURN, MASK._replace(dtype=np.int8)], [MOVE], {}, "the dtype bool"),
        ([TURN, MASK._replace(shape=(7, 2))], [MOVE], {}, r"shape \(A,\) or \(-1, A\)"),
        ([TURN, MASK], [MOVE._replace(high=7)], {}, "the bounds 0 and 6"),
        ([TURN, MASK], [MOVE._replace(name="action.a"), MOVE._replace(name="action.b")], {}, "one action"),
    ],
)
def test_definitions_are_checked(fields, actions, options, text):
    plugin.load()
    import _envpool_synthetic as native

    options = {"max_num_players": 2, "turns": True} | options
    capsule = define(native.turns_definition(), [Field("obs", np.int64, (-1, 4)), *fields], actions, **options)
    with pytest.raises(ValueError, match=text):
        describe(capsule)


def test_a_move_that_is_no_integer_is_named():
    with envpool.make_gymnasium("ConnectFour-v0", num_envs=2) as pool:
        pool.reset()
        for action, got in ((np.full(4, 1.5), 1.5), (np.full((2, 2), np.nan), np.nan)):
            with pytest.raises(ActionError, match=rf"env 0 .* must have integers from 0 to 6, got {got}"):
                pool.step(action)
