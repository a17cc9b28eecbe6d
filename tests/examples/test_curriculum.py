"""The curriculum makes an environment's task harder after a success, and easier after a failure."""

import numpy as np
import pytest

from tests.examples.load import load


@pytest.fixture(scope="module")
def curriculum():
    return load("curriculum")


def test_difficulty_follows_success(curriculum):
    course = curriculum.Curriculum(3)
    assert course.choose(np.arange(3), None)["force"].tolist() == pytest.approx([0.005] * 3)
    for _ in range(30):
        course.choose(np.array([0, 2]), np.array([True, False]))
    assert course.difficulty.tolist() == [1, 0, 0]
    assert course.choose(np.array([0]), np.array([True]))["force"].tolist() == [0.001]
    course.choose(np.array([0]), np.array([False]))
    assert course.difficulty[0] == pytest.approx(0.95)


def test_a_few_updates(curriculum, tmp_path, capsys):
    picture = tmp_path / "curriculum.png"
    sizes = ["--total-timesteps", "32768", "--evaluate-every", "4", "--episodes", "5"]
    results = curriculum.main([*sizes, "--plot", str(picture)])
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "MountainCar-v0, with a curriculum: mean return -" in capsys.readouterr().out
    assert results["without"][:, 1].tolist() == [1, 1]
    difficulty = results["with a curriculum"][:, 1]
    assert 0 < difficulty[0] < difficulty[1]
    with pytest.raises(SystemExit, match="the target 0 was not reached"):
        curriculum.main(["--total-timesteps", "4096", "--evaluate-every", "1", "--episodes", "2", "--target", "0"])
