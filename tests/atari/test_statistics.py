"""Statistics of whole games, beside those of clipped rewards and of single lives."""

import numpy as np
import pytest

import envpool
from tests.support.episodes import EpisodeModel, check_entry

MODES = ("next_step", "same_step", "disabled")


class GameModel:
    """The running sums of games, from the info of rows."""

    def __init__(self, num_envs, mode, continues):
        self.mode, self.continues = mode, continues
        self.returns, self.lengths = np.zeros(num_envs), np.zeros(num_envs, int)
        self.has_ended = np.zeros(num_envs, bool)
        self.lives = np.zeros(num_envs, int)
        self.ended = []

    def start(self, k):
        self.returns[k] = self.lengths[k] = 0

    def user_reset(self, ids, info, follows_episode):
        for i, k in enumerate(ids):
            if not self.continues or self.has_ended[k] or not follows_episode[k] or info["lives"][i] > self.lives[k]:
                self.start(k)
            self.lives[k] = info["lives"][i]

    def check(self, truncated, info):
        n = len(truncated)
        mask, r, length = np.zeros(n, bool), np.zeros(n), np.zeros(n, int)
        for i, k in enumerate(info["env_id"]):
            is_final = self.mode == "same_step" and info["_final_info"][i]
            row = {key: v[i] for key, v in (info["final_info"] if is_final else info).items() if key in ROW}
            if row["elapsed_step"] > 0:
                self.returns[k] += row["reward"]
                self.lengths[k] += 1
                mask[i] = row["terminated"] != 0 or truncated[i]
            elif self.lengths[k] and row["lives"] > self.lives[k]:
                mask[i] = True
            self.lives[k] = row["lives"]
            if is_final:
                mask[i] |= info["lives"][i] > self.lives[k]
                self.lives[k] = info["lives"][i]
            self.has_ended[k] = mask[i] and not is_final
            if mask[i]:
                r[i], length[i] = self.returns[k], self.lengths[k]
                self.ended.append((r[i], length[i]))
                self.start(k)
        assert ("game" in info) == ("_game" in info) == mask.any()
        if mask.any():
            check_entry(info, "game", mask, r, length)


ROW = ("reward", "terminated", "lives", "elapsed_step")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("episodic_life", [True, False])
def test_games(mode, episodic_life):
    rng = np.random.default_rng(0)
    with envpool.make_gymnasium(
        "Breakout-v5",
        num_envs=4,
        num_threads=2,
        autoreset_mode=mode,
        episodic_life=episodic_life,
        reward_clip=True,
        max_episode_steps=110,
        frame_skip=8,
        img_height=8,
        img_width=8,
        episode_statistics=True,
    ) as pool:
        games, episodes = GameModel(4, mode, episodic_life), EpisodeModel(4, mode)
        games.user_reset(range(4), pool.reset()[1], np.zeros(4, bool))
        num_user_resets = 0
        for t in range(500):
            batch = pool.step(rng.integers(0, 4, 4))
            episodes.check(batch)
            games.check(batch[3], batch[4])
            ids = np.flatnonzero(batch[2] | batch[3]) if mode == "disabled" else rng.permutation(4)[: t % 61 == 0]
            if len(ids):
                num_user_resets += 1
                episodes.reset(ids)
                games.user_reset(ids, pool.reset(ids)[1], (batch[2] | batch[3]) & (mode == "disabled"))
        stats = pool.stats()
        assert num_user_resets > 5
        assert stats.games == len(games.ended) > 5
        assert stats.mean_game_return == np.mean([r for r, _ in games.ended[-100:]])
        assert stats.mean_game_length == np.mean([n for _, n in games.ended[-100:]])
        if episodic_life:
            assert len(episodes.ended) > len(games.ended)
            assert max(n for _, n in games.ended) > max(n for _, n in episodes.ended)


def test_a_seed_starts_another_game():
    with envpool.make_gymnasium("Breakout-v5", num_envs=2, episodic_life=True, episode_statistics=True) as pool:
        pool.reset()
        for _ in range(20):
            pool.step(np.ones(2, int))
        pool.reset(seed=[5, None])
        steps = 20
        while True:
            steps += 1
            info = pool.step(np.ones(2, int))[4]
            assert steps < 5000
            if "game" in info:
                i = int(np.flatnonzero(info["_game"])[0])
                assert info["game"]["l"][i] <= steps - 20 * (i == 0)
                break


def test_tasks_of_other_families_have_no_games():
    with envpool.make_gymnasium("CartPole-v1", num_envs=3, episode_statistics=True) as pool:
        pool.reset()
        assert not any("game" in pool.step(np.ones(3, int))[4] for _ in range(30))
        assert pool.stats().games is None


def test_dm():
    with envpool.make_dm("Pong-v5", num_envs=2, max_episode_steps=5, episode_statistics=True) as pool:
        step = pool.reset()
        for _ in range(5):
            step = pool.step(np.zeros(2, int))
        state = step.observation
        assert state.game.mask.all() and state.episode.mask.all()
        assert state.game.l.tolist() == state.episode.l.tolist() == [5, 5]
        assert [name for name in pool.spec.state_array_spec if "game" in name] == [
            "info:game.r",
            "info:game.l",
            "info:game.t",
            "info:game.mask",
        ]
