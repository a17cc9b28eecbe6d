"""The curriculum weakens the motor after successes, and strengthens it after failures."""

import pytest

import envpool
from tests.examples.load import load


@pytest.fixture(scope="module")
def curriculum():
    return load("curriculum")


def test_the_level_follows_success(curriculum):
    with envpool.make_gymnasium(curriculum.TASK, num_envs=2) as pool:
        course = envpool.Curriculum(pool, curriculum.motor, **curriculum.LEVELS)

        def force():
            pool.reset()
            return pool.get_params(in_force=True)["force"].tolist()

        assert force() == pytest.approx([0.005] * 2)
        window, levels = curriculum.LEVELS["window"], round(1 / curriculum.LEVELS["step"])
        for _ in range(levels):
            course.update([True] * window)
        assert course.level == 1
        assert force() == pytest.approx([0.001] * 2)
        assert course.update([False] * window) == pytest.approx(0.95)
        assert force() == pytest.approx([0.001 * 5**0.05] * 2)


def test_a_few_updates(curriculum, tmp_path, capsys):
    picture = tmp_path / "curriculum.png"
    sizes = ["--total-timesteps", "32768", "--evaluate-every", "4", "--episodes", "5"]
    results = curriculum.main([*sizes, "--plot", str(picture)])
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "MountainCar-v0, with a curriculum: mean return -" in capsys.readouterr().out
    assert results["without"][:, 1].tolist() == [1, 1]
    level = results["with a curriculum"][:, 1]
    assert 0 <= level[0] < level[1] <= 1
    with pytest.raises(SystemExit, match="the target 0 was not reached"):
        curriculum.main(["--total-timesteps", "4096", "--evaluate-every", "1", "--episodes", "2", "--target", "0"])
