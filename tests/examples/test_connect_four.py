"""The example of self-play: its opponents follow their rules, and a few updates run."""

import numpy as np
import pytest
import torch

import envpool
from tests.board_games.test_connect_four import Board
from tests.examples.load import load


@pytest.fixture(scope="module")
def example():
    return load("connect_four")


def positions(count, seed):
    """Return boards of running games, as `Board` and as the observation and mask of the player to move."""
    rng = np.random.default_rng(seed)
    found = []
    while len(found) < count:
        board = Board()
        for _ in range(rng.integers(4, 26)):
            board.play(rng.choice(np.flatnonzero(board.legal())))
            if board.is_over:
                break
        if not board.is_over:
            found.append(board)
    return found, np.array([b.obs()[b.turn] for b in found]), np.array([b.legal() for b in found])


def after(board, column):
    """Return a copy of a board after a move."""
    copy = Board()
    copy.cells, copy.turn = board.cells.copy(), board.turn
    copy.play(column)
    return copy


def worth(board, column):
    """Return the value of a move, looking two moves ahead."""
    first = after(board, column)
    if first.is_over:
        return first.rewards[board.turn]
    return min(after(first, reply).rewards[board.turn] for reply in np.flatnonzero(first.legal()))


def test_minimax_chooses_among_the_best_moves(example):
    boards, obs, mask = positions(25, 1)
    values = [{m: worth(b, m) for m in np.flatnonzero(b.legal())} for b in boards]
    best = [{m for m, value in of_board.items() if value == max(of_board.values())} for of_board in values]
    assert sum(0 < len(moves) < legal.sum() for moves, legal in zip(best, mask, strict=True)) > 6
    act, chosen = example.minimax(np.random.default_rng(2)), [set() for _ in boards]
    for _ in range(60):
        for moves, move in zip(chosen, act(obs, {"legal_action_mask": mask}), strict=True):
            moves.add(move)
    assert chosen == best


def test_random_moves_are_legal_and_vary(example):
    mask = np.array([[False, True, False, True, False, False, False]] * 50)
    moves = example.random_moves(np.random.default_rng(1))(None, {"legal_action_mask": mask})
    assert set(moves) == {1, 3}


def test_scores(example):
    """Minimax beats random moves, in both seats; the number of games is as asked."""
    rng = np.random.default_rng(1)
    strong, weak = example.minimax(rng), example.random_moves(rng)
    assert example.score(strong, weak, 40, 1) > 0.8
    assert example.score(weak, strong, 40, 1) < 0.2


def test_the_network_gives_illegal_moves_no_chance(example):
    _, obs, mask = positions(20, 3)
    logits, value = example.Agent(8).evaluate(obs, mask)
    assert value.shape == (20,)
    np.testing.assert_array_equal(np.isfinite(logits), mask)


def test_the_data_are_the_learners_own_turns(example):
    sampler, agent = envpool.rollout.Sampler(1), example.Agent(8)
    with envpool.make_gymnasium(
        example.TASK, num_envs=4, controlled="alternate", autoreset_mode="same_step", opponents=agent.policy()
    ) as env:
        data = example.Data(30, 4)
        data.collect(env, agent, sampler, env.reset())
        assert data.terminated.any() and set(data.reward[data.terminated]) <= {-1, 0, 1}
        assert not data.reward[~data.terminated].any()
        assert np.take_along_axis(data.mask, data.action[..., None], 2).all()
        own, other = data.obs[..., 0].sum((2, 3)), data.obs[..., 1].sum((2, 3))
        assert ((own == other) | (own + 1 == other)).all()


def test_a_few_updates(example, tmp_path, capsys):
    torch.set_num_threads(1)
    options = ["--updates", "2", "--num-envs", "8", "--num-steps", "4", "--games", "4", "--hidden", "8"]
    curve = tmp_path / "curve.png"
    example.main([*options, "--evaluate-every", "1", "--plot", str(curve)])
    assert "PPO on ConnectFour-v0: scores" in capsys.readouterr().out
    assert curve.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(SystemExit, match="the target 1 was not reached"):
        example.main([*options, "--target", "1"])
