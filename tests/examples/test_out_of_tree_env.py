"""The example of a native env outside the package builds against get_include() and works as documented."""

import struct
import sys
from pathlib import Path

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError, EnvStepError, RenderError, StateError
from tests.support.builds import build_extension
from tests.support.saved import CORE, body_of, core_at, sealed

EXAMPLE = Path(__file__).parents[2] / "examples" / "out_of_tree_env"


@pytest.fixture(scope="module", autouse=True)
def random_walk(tmp_path_factory):
    """Build the example and import it, which registers its task."""
    folder = build_extension(EXAMPLE, tmp_path_factory.mktemp("random_walk"))
    sys.path.insert(0, str(folder))
    import random_walk

    yield random_walk
    sys.path.remove(str(folder))


def test_always_right_without_slipping():
    with envpool.make_gymnasium("RandomWalk-v0", num_envs=2, size=7, slip=0.0) as pool:
        obs, info = pool.reset()
        assert obs.tolist() == [3, 3]
        assert (obs.dtype, info["slipped"].dtype) == (np.int32, np.bool_)
        rows = [pool.step(np.array([1, 0])) for _ in range(4)]
    assert [row[0].tolist() for row in rows] == [[4, 2], [5, 1], [6, 0], [3, 3]]
    assert [row[1].tolist() for row in rows] == [[0, 0], [0, 0], [1, 0], [0, 0]]
    assert [row[2].tolist() for row in rows] == [[False, False], [False, False], [True, True], [False, False]]


def test_slips_are_those_of_numpys_generator():
    streams = [np.random.Generator(np.random.PCG64(5 + i)) for i in range(3)]
    with envpool.make_gymnasium("RandomWalk-v0", num_envs=3, seed=5, size=9, slip=0.4) as pool:
        cells = pool.reset()[0]
        ended = np.zeros(3, bool)
        for _ in range(500):
            obs, _, terminated, truncated, info = pool.step(np.array([1, 1, 0]))
            for i, stream in enumerate(streams):
                slipped = not ended[i] and stream.random() < 0.4
                assert info["slipped"][i] == slipped
                cells[i] = 4 if ended[i] else cells[i] + (1 if (i < 2) != slipped else -1)
            assert obs.tolist() == cells.tolist()
            ended = terminated | truncated


def test_time_limit_and_spaces():
    with envpool.make_gymnasium("RandomWalk-v0", size=51, slip=0.5) as pool:
        assert pool.config["max_episode_steps"] == 100
        assert pool.single_observation_space.n == 51
        assert pool.single_action_space.n == 2


def test_frames_show_the_cell():
    with envpool.make_gymnasium("RandomWalk-v0", size=4, slip=0.0, render_mode="rgb_array") as pool:
        pool.reset()
        assert pool.render()[0, 0, :, 0].tolist() == [0] * 128 + [255] * 64 + [0] * 64


def test_states():
    with envpool.make_gymnasium("RandomWalk-v0", num_envs=2, size=5, slip=0.3) as pool:
        pool.reset()
        states = pool.get_state()
        expected = [pool.step(np.array([1, 0]))[0].tolist() for _ in range(50)]
        pool.set_state(states)
        assert [pool.step(np.array([1, 0]))[0].tolist() for _ in range(50)] == expected
    for cell, resets, is_valid in (
        (0, 0, False),
        (0, 1, True),
        (4, 0, False),
        (4, 1, True),
        (5, 1, False),
        (1, 0, True),
    ):
        with envpool.make_gymnasium("RandomWalk-v0", num_envs=1, size=5) as pool:
            pool.reset()
            body = body_of(pool.get_state())
            CORE.pack_into(body, core_at(body), 0, 3, resets, 0)
            struct.pack_into("<i", body, core_at(body) + CORE.size + 40, cell)
            if is_valid:
                pool.set_state(sealed(body))
            else:
                with pytest.raises(StateError, match="it has values that get_state"):
                    pool.set_state(sealed(body))


def test_options_are_checked():
    with pytest.raises(ConfigError, match="size must be at least 3, got 2"):
        envpool.make_spec("RandomWalk-v0", size=2)
    with pytest.raises(ConfigError, match=r"slip must be between 0 and 1, got 1\.5"):
        envpool.make_spec("RandomWalk-v0", slip=1.5)


@pytest.mark.slow
def test_failures_of_steps_and_frames(tmp_path):
    """A positive result of `reset`, `step` or `draw` fails one environment, which works again after its next reset."""
    source = (EXAMPLE / "random_walk.pyx").read_text().replace("RandomWalk", "FailingWalk")
    for line, failure in (
        ("    out.reward, out.terminated = ", "    if w.cell == 4:\n        return 7\n"),
        ("    memset(pixels, 0, ", "    if cell == 2:\n        return 8\n"),
    ):
        assert line in source
        source = source.replace(line, failure + line)
    (tmp_path / "failing_walk.pyx").write_text(source)
    for name in ("setup.py", "pyproject.toml"):
        text = (EXAMPLE / name).read_text()
        (tmp_path / name).write_text(text.replace("random_walk", "failing_walk").replace("random-walk", "failing-walk"))
    sys.path.insert(0, str(build_extension(tmp_path, tmp_path / "built")))
    import failing_walk  # noqa: F401 - registers the task

    sys.path.pop(0)
    with envpool.make_gymnasium("FailingWalk-v0", num_envs=2, slip=0.0, render_mode="rgb_array") as pool:
        pool.reset()
        with pytest.raises(EnvStepError, match=r"1 env\(s\) failed: env 1: error code 7"):
            pool.step(np.array([0, 1]))
        assert pool.recv()[0][0] == 2
        with pytest.raises(RenderError, match="env 0: error code 8"):
            pool.render()
        obs, reward, *_ = pool.step(np.array([0, 0]))
        assert obs.tolist() == [1, 3] and reward.tolist() == [0, 0]
        assert pool.render().shape == (1, 32, 256, 3)


def test_the_page_shows_the_file():
    """docs/native_env.md quotes the example; every quoted line must still be there."""
    page = (Path(__file__).parents[2] / "docs" / "native_env.md").read_text()
    source = (EXAMPLE / "random_walk.pyx").read_text()
    quotes = [block.split("```")[0] for block in page.split("```cython\n")[1:]]
    assert quotes
    for quote in quotes:
        assert quote in source
