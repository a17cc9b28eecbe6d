"""Looking ahead on copies of the games beats the policy of the rollouts."""

import json

import numpy as np
import pytest

from tests.examples.load import load


@pytest.fixture(scope="module")
def shooting():
    return load("random_shooting")


def test_beats_the_policy_without_search(shooting, tmp_path, capsys):
    picture = tmp_path / "returns.png"
    returns = shooting.main(["--target", "400", "--plot", str(picture)])
    assert returns["random"].mean() < 60
    assert "CartPole-v1, random shooting: mean return " in capsys.readouterr().out
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_beats_the_policy_without_search_at_pong(shooting):
    options = {"noop_max": 1, "use_fire_reset": False, "img_height": 8, "img_width": 8, "stack_num": 1}
    sizes = ["--games", "2", "--rollouts", "36", "--horizon", "25", "--max-steps", "120"]
    returns = shooting.main(["--task", "Pong-v5", "--options", json.dumps(options), *sizes])
    assert returns["random shooting"].mean() > returns["random"].mean()
    assert returns["random shooting"].mean() >= 0


def test_a_rollout_leaves_the_games_as_they_are(shooting):
    """The games continue as if nobody had looked ahead."""
    args = shooting.parse_args(["--games", "3", "--rollouts", "4"])
    search, plain = shooting.Search(args), shooting.Search(args)
    with search.pool, plain.pool:
        for one in (search, plain):
            one.pool.reset()
        for t in range(12):
            search.act(search.games)
            actions = np.full(3, t % 2)
            for found, expected in zip(
                *(one.pool.step(actions, one.games)[:4] for one in (search, plain)), strict=True
            ):
                np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--task", "Pendulum-v1"], "needs a task with discrete actions; those of Pendulum-v1 are Box"),
        (["--rollouts", "1"], "--rollouts is 1; CartPole-v1 needs at least one per action, 2"),
        (["--max-steps", "5", "--target", "400"], "the target 400 was not reached"),
    ],
)
def test_errors(shooting, options, text):
    with pytest.raises(SystemExit, match=text):
        shooting.main(options)
