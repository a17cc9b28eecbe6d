"""A PettingZoo game is learned, with the same numbers wherever the environments run."""

import pytest

from tests.examples.load import load


def test_learns(capsys):
    game = load("rock_paper_scissors")
    game.main(["--target", "0.6"])
    assert "mean reward" in capsys.readouterr().out
    with pytest.raises(SystemExit, match=r"the target 0.99 was not reached"):
        game.main(["--updates", "20", "--target", "0.99"])


def test_processes_give_the_same_numbers():
    game = load("rock_paper_scissors")
    assert game.train(20, 8) == game.train(20, 8, workers="process", num_threads=2)
