"""The names that errors suggest."""

import pytest

import envpool
from envpool._support.text import similar_names, similar_tasks
from envpool.errors import UnknownTaskError


@pytest.mark.parametrize(
    ("task", "option", "wanted"),
    [
        ("Pong-v5", {"num_stack": 4}, "'stack_num'?"),
        ("Ant-v5", {"num_stack": 4}, "'frame_stack'?"),
        ("Ant-v5", {"dtype": "float32"}, "'float32_obs'?"),
        ("Ant-v5", {"check_actions": "nan"}, "'require_finite_actions'?"),
        ("Pong-v5", {"n_envs": 4}, "'num_envs'?"),
        ("Pong-v5", {"grayscale_obs": True}, "'gray_scale'?"),
        ("Pong-v5", {"terminal_on_life_loss": True}, "'episodic_life'?"),
        ("Pong-v5", {"screen_size": 96}, "'img_height' or 'img_width'?"),
        ("CartPole-v1", {"num_env": 4}, "'num_envs'?"),
        ("CartPole-v1", {"max_episode_step": 4}, "'max_episode_steps'?"),
    ],
)
def test_option(task, option, wanted):
    with pytest.raises(TypeError) as caught:
        envpool.make_gymnasium(task, **option)
    assert str(caught.value).endswith(f"has no option {next(iter(option))!r}; did you mean {wanted}")


@pytest.mark.parametrize(
    ("task", "wanted"),
    [
        ("MountainCar-v1", ["MountainCar-v0", "MountainCarContinuous-v0"]),
        ("cartpole-v1", ["CartPole-v1", "CartPole-v0"]),
        ("CartPoll-v1", ["CartPole-v1", "CartPole-v0"]),
        ("ALE/Pong-v5", ["Pong-v5"]),
        ("PongNoFrameskip-v4", ["Pong-v5"]),
        ("MinAtar/Breakout-v9", ["MinAtar/Breakout-v1", "MinAtar/Breakout-v0", "Breakout-v5"]),
        ("LunarLander-v1", ["LunarLander-v3", "LunarLander-v2"]),
        ("LunarLandr-v2", ["LunarLander-v3", "LunarLander-v2"]),
        ("FrozenLke-v1", ["FrozenLake-v1", "FrozenLake8x8-v1"]),
    ],
)
def test_task(task, wanted):
    with pytest.raises(UnknownTaskError) as caught:
        envpool.make_gymnasium(task)
    suggested = str(caught.value).partition("did you mean ")[2].partition("?")[0].split(" or ")
    assert suggested[: len(wanted)] == wanted
    assert all(("/" in task) or "/" not in name for name in suggested)
    if task.startswith("MountainCar"):
        assert suggested == wanted


def test_nothing_is_similar():
    assert similar_names("zzz", ["num_envs"]) == []
    assert similar_tasks("q", ["CartPole-v1"]) == []
    with pytest.raises(UnknownTaskError, match=r"^Foo-v1 is not supported, `envpool\.list_all_envs"):
        envpool.make_gymnasium("Foo-v1")
    with pytest.raises(UnknownTaskError, match="a task must be an id, got None"):
        envpool.make_gymnasium(None)


def test_make_without_a_style_names_the_styles():
    with pytest.raises(TypeError, match=r"'gymnasium', 'gym' and 'dm'.*make\('CartPole-v1', env_type='gymnasium'\)"):
        envpool.make("CartPole-v1")
