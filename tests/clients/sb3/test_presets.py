"""The preset "sb3" against all wrappers of Stable-Baselines3. docs/atari.md lists the differences that remain.

The wrappers are those that the examples of Stable-Baselines3 and its algorithms put around Atari: ``make_atari_env``,
which has Monitor and AtariWrapper, ``VecFrameStack(n_stack=4)`` and ``VecTransposeImage``.

Two differences are taken out here, so that everything else can be compared bit for bit: a wrapper below Monitor makes
the screens grey with ALE's palette, before the maximum of two screens is taken; and of the stacks, which begin with
zeros, only the frames of the episode are compared, unless the pool has ``padding_type="zero"``.
"""

import ale_py
import gymnasium
import numpy as np
import pytest
from stable_baselines3.common.atari_wrappers import AtariWrapper
from stable_baselines3.common.env_util import make_atari_env
from stable_baselines3.common.vec_env import VecFrameStack, VecTransposeImage

import envpool
from envpool.adapters.sb3 import VecEnv

SEED = 5


class GreyScreen(gymnasium.ObservationWrapper):
    """RGB screens whose channels are all ALE's greyscale screen."""

    def observation(self, observation):
        return np.repeat(self.unwrapped.ale.getScreenGrayscale()[..., None], 3, axis=-1)


def wrappers_of(game, n_envs):
    """Return the environments of Stable-Baselines3."""
    gymnasium.register_envs(ale_py)
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    envs = make_atari_env(lambda: GreyScreen(gymnasium.make(f"{game}NoFrameskip-v4")), n_envs, SEED)
    return VecTransposeImage(VecFrameStack(envs, n_stack=4))


def ram_of(envs):
    """Return the memories of the consoles."""
    return np.stack([ale.getRAM() for ale in envs.get_attr("ale")])


def assert_equal_frames(expected, got, age):
    """Compare stacks of an episode that has had `age` steps, of which the wrappers fill the rest with zeros."""
    first = max(3 - age, 0)
    assert (expected[first:] == got[first:]).all()
    assert not expected[:first].any()


def actions(rng, held, count):
    """Return actions of which one in 5 is drawn again."""
    return np.where(rng.random(held.shape) < 0.2, rng.integers(count, size=held.shape), held)


@pytest.mark.parametrize(
    ("game", "steps", "loses_lives", "padding"), [("Freeway", 300, False, "reset"), ("MsPacman", 400, True, "zero")]
)
def test_adapter(game, steps, loses_lives, padding):
    """Two games without FIRE, up to the first loss of a life: the adapter is all that Stable-Baselines3 needs."""
    theirs, own = wrappers_of(game, 2), VecEnv(f"{game}-v5", num_envs=2, preset="sb3", padding_type=padding)
    assert (theirs.observation_space, theirs.action_space) == (own.observation_space, own.action_space)
    own.seed(SEED)
    expected, got = theirs.reset(), own.reset()
    rng, held, done = np.random.default_rng(0), np.zeros(2, int), np.zeros(2, bool)
    for age in range(steps):
        for pair in zip(expected, got, strict=True):
            assert_equal_frames(*pair, age if padding == "reset" else 3)  # with zeros, whole stacks are equal
        held = actions(rng, held, own.action_space.n)
        expected, reward, done, infos = theirs.step(held)
        got, own_reward, own_done, own_infos = own.step(held)
        assert reward.tobytes() == own_reward.tobytes() and done.tobytes() == own_done.tobytes()
        for i in np.flatnonzero(done):
            assert infos[i]["TimeLimit.truncated"] == own_infos[i]["TimeLimit.truncated"]
            assert (infos[i]["terminal_observation"] == own_infos[i]["terminal_observation"])[:-1].all()
        if done.any():
            break
        assert (ram_of(theirs) == [info["ram"] for info in own_infos]).all()
    assert done.any() == loses_lives
    own.close()


def test_episodes_are_whole_games():
    """As those of SB3's Monitor, which is below the wrappers that end episodes and clip rewards."""
    env = VecEnv("Breakout-v5", num_envs=4, preset="sb3", episode_statistics=True)
    env.reset()
    rng, returns, lengths, games, ends = np.random.default_rng(1), np.zeros(4), np.zeros(4, int), 0, 0
    for _ in range(500):
        _, _, done, infos = env.step(rng.integers(env.action_space.n, size=4))
        returns += [info["reward"] for info in infos]
        lengths += 1
        ends += done.sum()
        for i, info in enumerate(infos):
            is_over = bool(done[i]) and info["lives"] == 0
            assert ("episode" in info) == ("game" in info) == is_over
            if is_over:
                assert (info["episode"]["r"], info["episode"]["l"]) == (returns[i], lengths[i])
                returns[i], lengths[i], games = 0, 0, games + 1
    assert games >= 2 and ends > 2 * games
    env.close()


@pytest.mark.parametrize("game", ["Breakout", "MsPacman"])
def test_lives_and_games(game):
    """A game and the start of the next one. The pool has the preset, but no FIRE and no episodes for lives; the actions
    with which the wrappers begin an episode are played as steps.
    """
    theirs = wrappers_of(game, 1)
    begin = [1, 2] if "FIRE" in theirs.envs[0].unwrapped.get_action_meanings() else []
    rng, held, losses, games = np.random.default_rng(0), np.zeros(1, int), 0, 0
    options = {"preset": "sb3", "use_fire_reset": False, "episodic_life": False, "episode_statistics": True}
    with envpool.make_gymnasium(f"{game}-v5", env_seed=[SEED], **options) as pool:
        expected, (got, info) = theirs.reset(), pool.reset()
        for action in begin:
            got, *_, info = pool.step([action])
        age, lives = 0, info["lives"][0]
        for _ in range(700):
            assert_equal_frames(expected[0], got[0], age)
            assert (ram_of(theirs) == info["ram"]).all()
            held = actions(rng, held, pool.action_space.n)
            expected, reward, done, infos = theirs.step(held)
            got, own_reward, terminated, truncated, info = pool.step(held)
            is_over, is_lost = bool(terminated[0] or truncated[0]), 0 < info["lives"][0] < lives
            assert reward.tobytes() == own_reward.tobytes() and done[0] == (is_over or is_lost)
            age, lives, games, losses = age + 1, info["lives"][0], games + is_over, losses + is_lost
            if is_over:
                assert infos[0]["episode"]["r"] == info["game"]["r"][0] != 0
            if done[0]:
                last = infos[0]["terminal_observation"]
                assert_equal_frames(last[: 3 if is_over else 4], got[0][: 3 if is_over else 4], age)
                for action in [0, *begin]:  # the first starts a game if one is over
                    got, *_, info = pool.step([action])
                age, lives = 0, info["lives"][0]
            if games and age == 40:
                break
    assert games == 1 and losses > 1


def test_options_are_the_defaults_of_the_wrapper():
    """The wrapper's defaults, and the stack of 4 frames and the limit of frames of the environment it is made for."""
    config = envpool.make_spec("Pong-v5", preset="sb3").config
    parameters = AtariWrapper.__init__.__defaults__
    names = AtariWrapper.__init__.__code__.co_varnames[2 : 2 + len(parameters)]
    assert dict(zip(names, parameters, strict=True)) == {
        "noop_max": config.noop_max,
        "frame_skip": config.frame_skip,
        "screen_size": config.img_height,
        "terminal_on_life_loss": config.episodic_life,
        "clip_reward": config.reward_clip,
        "action_repeat_probability": config.repeat_action_probability,
    }
    gymnasium.register_envs(ale_py)
    limit = gymnasium.spec("PongNoFrameskip-v4").kwargs["max_num_frames_per_episode"]
    assert limit == config.max_episode_steps * config.frame_skip
