"""Connect four equals its rules in plain Python, and PettingZoo's connect_four_v3."""

from pathlib import Path

import numpy as np
import pytest
from pettingzoo.classic.connect_four.connect_four import raw_env

import envpool
from envpool.board_games.upstream import upstream_of
from envpool.verify.rows import check_rows


class Board:
    """One game, in plain Python."""

    def __init__(self):
        self.cells = np.zeros((6, 7), int)  # 0 nobody, else 1 + the player
        self.turn, self.is_over, self.rewards = 0, False, [0, 0]

    def has_won(self, disc):
        lines = [(0, 1), (1, 0), (1, 1), (1, -1)]
        for y, x in np.argwhere(self.cells == disc):
            for dy, dx in lines:
                ys, xs = y + dy * np.arange(4), x + dx * np.arange(4)
                if ys[-1] < 6 and 0 <= xs[-1] < 7 and (self.cells[ys, xs] == disc).all():
                    return True
        return False

    def legal(self):
        return (self.cells[0] == 0) & (not self.is_over)

    def play(self, column):
        mover = self.turn
        self.turn = 1 - mover
        if self.cells[0, column]:
            winner = 1 - mover
        else:
            self.cells[np.flatnonzero(self.cells[:, column] == 0)[-1], column] = 1 + mover
            winner = mover if self.has_won(1 + mover) else None
        self.rewards = [0, 0] if winner is None else [1 if p == winner else -1 for p in (0, 1)]
        self.is_over = winner is not None or (self.cells != 0).all()

    def obs(self):
        own = np.stack([self.cells == 1, self.cells == 2], -1).astype(np.int8)
        return np.stack([own, own[..., ::-1]])


def compare(num_envs, steps, seed, lax):
    """Play games beside the rules; return how they ended."""
    rng = np.random.default_rng(seed)
    ends = {"won": 0, "drawn": 0, "illegal": 0}
    illegal = "lose" if lax else "raise"
    with envpool.make_gymnasium(
        "ConnectFour-v0", num_envs=num_envs, players="grid", illegal_actions=illegal, autoreset_mode="disabled"
    ) as pool:
        obs, info = pool.reset()
        boards = [Board() for _ in range(num_envs)]
        for _ in range(steps):
            moves = rng.integers(0, 7, num_envs) if lax else pool.sample_actions(rng)
            obs, reward, terminated, truncated, info = pool.step(moves)
            for i, board in enumerate(boards):
                was_legal = board.legal()[moves[i]]
                board.play(moves[i])
                np.testing.assert_array_equal(obs[i], board.obs(), strict=True)
                assert reward[i].tolist() == board.rewards
                assert terminated[i] == board.is_over and not truncated[i]
                assert info["current_player"][i] == (-1 if board.is_over else board.turn)
                np.testing.assert_array_equal(info["legal_action_mask"][i], board.legal())
                ends["won"] += was_legal and any(board.rewards)
                ends["drawn"] += board.is_over and not any(board.rewards)
                ends["illegal"] += not was_legal
            ended = np.flatnonzero(terminated)
            if len(ended):
                obs, info = pool.reset(ended)
                assert not obs.any() and (info["current_player"] == 0).all() and info["legal_action_mask"].all()
                for i in ended:
                    boards[i] = Board()
    return ends


@pytest.mark.parametrize("lax", [False, True])
def test_games_follow_the_rules(lax):
    ends = compare(8, 80, 1, lax)
    assert ends["won"] > 20 and (ends["illegal"] > 0) == lax


@pytest.mark.slow
def test_a_thousand_games_follow_the_rules():
    ends = compare(64, 500, 2, False)
    assert ends["won"] + ends["drawn"] > 1200 and ends["drawn"] > 0
    assert compare(64, 200, 3, True)["illegal"] > 20


@pytest.mark.parametrize("games", [25, pytest.param(1000, marks=pytest.mark.slow)])
def test_games_are_those_of_pettingzoo(games):
    rng = np.random.default_rng(games)
    env = raw_env()
    assert env.observation_spaces["player_0"]["observation"].dtype == np.int8
    with envpool.make_gymnasium("ConnectFour-v0", players="grid") as pool:
        for _ in range(games):
            env.reset()
            obs, info = pool.reset()
            while True:
                player = info["current_player"][0]
                assert env.agent_selection == f"player_{player}"
                theirs = env.observe(env.agent_selection)
                np.testing.assert_array_equal(obs[0, player], theirs["observation"], strict=True)
                np.testing.assert_array_equal(info["legal_action_mask"][0], theirs["action_mask"])
                move = rng.choice(np.flatnonzero(theirs["action_mask"]))
                env.step(int(move))
                obs, reward, terminated, truncated, info = pool.step(np.array([move]))
                assert reward[0].tolist() == [env.rewards[f"player_{p}"] for p in (0, 1)]
                assert terminated[0] == env.terminations["player_0"] == env.terminations["player_1"]
                assert not truncated[0]
                if terminated[0]:
                    break


def test_sequences_of_the_oracle_consist_of_whole_games():
    """Each begins where the one before has ended, so that all moves of `envpool verify` are legal."""
    for records in (1, 9, 14, 43, 200):
        moves = upstream_of("ConnectFour-v0").choose_actions(None, "random", records, 2, 5)
        assert moves.shape == (records, 2)
        for column in moves.T:
            board, num_games = Board(), 0
            for move in column:
                if board.is_over:
                    board, num_games = Board(), num_games + 1
                    continue
                assert board.legal()[move]
                board.play(move)
            if records >= 14:
                assert num_games and not board.cells.any()


def test_rows_are_written_whole():
    check_rows("ConnectFour-v0", steps=100, num_envs=2)


def test_states_continue_games():
    with envpool.make_gymnasium("ConnectFour-v0", num_envs=4) as pool:
        pool.reset()
        for _ in range(5):
            pool.step(pool.sample_actions())
        states = pool.get_state()
        results = []
        for _ in range(2):
            pool.set_state(states)
            results.append([pool.step(pool.sample_actions(t))[:3] for t in range(40)])
        for first, second in zip(*results, strict=True):
            for a, b in zip(first, second, strict=True):
                np.testing.assert_array_equal(a, b)


def test_frames_show_the_discs():
    with envpool.make_gymnasium("ConnectFour-v0", render_mode="rgb_array", render_width=70, render_height=60) as pool:
        pool.reset()
        for column in (0, 0, 6):
            pool.step(np.array([column]))
        frame = pool.render()[0]
        assert frame.shape == (60, 70, 3)
        assert frame[55, 5].tolist() == [204, 51, 51] and frame[45, 5].tolist() == [240, 200, 40]
        assert frame[55, 65].tolist() == [204, 51, 51] and frame[5, 5].tolist() == [255, 255, 255]
        assert frame[0, 0].tolist() == [40, 80, 170]
        assert pool.metadata["render_fps"] == raw_env.metadata["render_fps"] == 2


def test_the_page_quotes_the_source():
    root = Path(__file__).parents[2]
    source = (root / "envpool" / "board_games" / "connect_four.pyx").read_text()
    section = (root / "docs" / "native_env.md").read_text().partition("### Turns\n")[2].partition("### Groups\n")[0]
    quotes = [block.split("```")[0] for block in section.split("```pyx\n")[1:]]
    assert len(quotes) == 1 and quotes[0] in source
