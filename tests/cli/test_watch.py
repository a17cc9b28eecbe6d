"""``envpool watch``."""

import sys
from pathlib import Path

import imageio.v3
import numpy as np
import pytest

import envpool
from envpool.cli.main import main
from envpool.cli.watch.policy import load_policy
from envpool.cli.watch.tiling import ASPECT, MAX_SIZE, Tiling, tiled
from tests.cli.command import run_command
from tests.support import plugin
from tests.test_window import Screen

TASK = ["watch", "Synthetic-v0", "--option", "render_height=60", "--option", "render_width=80"]


@pytest.fixture(autouse=True)
def task():
    plugin.load()


@pytest.fixture
def calm(tmp_path_factory):
    """A policy without effect: random actions may make these envs fail or wait."""
    path = tmp_path_factory.mktemp("policies") / "calm.py"
    path.write_text("import numpy as np\ndef act(obs): return np.zeros(len(obs), int)\n")
    return f"{path}:act"


def watch(*arguments):
    return main([*TASK, *map(str, arguments)])


@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_a_file_has_a_frame_of_each_step(suffix, tmp_path, capsys, calm):
    path = tmp_path / f"a{suffix}"
    assert watch("--out", path, "--steps", 11, "--num-envs", 3, "--policy", calm) == 0
    assert capsys.readouterr().out == f"{path}: 11 steps of 3 envs, 25 frames per second\n"
    frames = imageio.v3.imread(path)
    assert frames.shape == (12, *Tiling(3, 60, 80).size, 3)


def test_a_still_shows_the_last_step(tmp_path, calm):
    path = tmp_path / "a.png"
    assert watch("--out", path, "--steps", 3, "--num-envs", 4, "--policy", calm) == 0
    frame = imageio.v3.imread(path)
    assert frame.shape == (122, 162, 3)
    plain = (np.arange(60 * 80 * 3) + 3).astype(np.uint8).reshape(60, 80, 3)
    for y in (0, 62):
        for x in (0, 82):
            np.testing.assert_array_equal(frame[y + 20 : y + 60, x : x + 80], plain[20:])  # below the text


def test_command_line(tmp_path):
    path = tmp_path / "a.png"
    done = run_command("watch", "CartPole-v1", "--out", str(path), "--steps", "2", "--num-envs", "1")
    assert (done.returncode, done.stderr) == (0, "")
    assert path.stat().st_size > 500


def test_return_and_step_of_the_episode(monkeypatch, tmp_path, calm):
    """Episodes have five steps of reward 1 to 5."""
    seen = []
    monkeypatch.setattr(
        "envpool.cli.watch.command.tiled", lambda frames, texts, tiling: seen.append(texts) or frames[0]
    )
    assert watch("--out", tmp_path / "a.png", "--steps", 7, "--num-envs", 1, "--policy", calm) == 0
    returns = [0, 1, 3, 6, 10, 15, 0, 1]
    assert seen == [[f"step {k}  return {r}"] for k, r in zip([0, 1, 2, 3, 4, 5, 0, 1], returns, strict=True)]


def test_a_window(monkeypatch, calm):
    screen = Screen()
    monkeypatch.setitem(sys.modules, "cv2", screen)
    monkeypatch.setattr("envpool.window.display_error", lambda: "")
    assert watch("--steps", 3, "--num-envs", 1, "--fps", 1000, "--policy", calm) == 0
    assert len(screen.shown) == 4 and not screen.open


def test_a_policy_sees_all_observations(tmp_path):
    policy = tmp_path / "policy.py"
    policy.write_text("def act(obs):\n    assert obs.shape == (3, 6), obs\n    return obs[:, 0] + 1\n")
    spec = envpool.make_spec("Synthetic-v0", num_envs=3)
    act = load_policy(f"{policy}:act", spec)
    assert act(np.arange(18).reshape(3, 6)).tolist() == [1, 7, 13]
    random = load_policy("random", spec)
    drawn = np.array([random(None) for _ in range(200)])
    assert drawn.shape == (200, 3) and len(np.unique(drawn)) > 90


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--out", "a.avi"], "--out must end in one of .mp4, .gif, .png, got 'a.avi'"),
        (["--out", "no/folder/a.mp4"], "--out: the directory 'no/folder' does not exist"),
        (["--out", "a.png", "--policy", "best"], "--policy must be random or FILE.py:function, got 'best'"),
        (["--out", "a.png", "--policy", "no.py:act"], "--policy: the file 'no.py' does not exist"),
        (["--out", "a.png", "--policy", f"{__file__}:nothing"], "has no function 'nothing'"),
        (["--out", "a.png", "--option", "render_width=-3"], "render_width must be between 1 and 4096 pixels"),
        ([], "the installed one has none: pip install opencv-python"),
    ],
)
def test_mistakes(arguments, text, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert watch(*arguments) == 2
    captured = capsys.readouterr()
    assert text in captured.err and captured.out == ""
    assert not list(Path().iterdir())


@pytest.mark.parametrize("module", ["PIL", "imageio_ffmpeg"])
def test_a_missing_encoder(module, monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, module, None)
    assert watch("--out", tmp_path / "a.mp4") == 2
    assert "pip install 'envpool-cython[render]'" in capsys.readouterr().err


def test_what_was_seen_before_an_error_is_kept(tmp_path, capsys):
    policy = tmp_path / "policy.py"
    policy.write_text("calls = []\ndef act(obs):\n    calls.append(1)\n    return [1 if len(calls) < 5 else 97]\n")
    path = tmp_path / "a.gif"
    assert watch("--out", path, "--num-envs", 1, "--policy", f"{policy}:act") == 2
    assert "was asked to fail" in capsys.readouterr().err
    assert len(imageio.v3.imread(path)) == 5


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 7, 12, 64, 100])
@pytest.mark.parametrize("size", [(8, 12), (210, 160), (400, 600), (480, 480), (1, 300), (4096, 4096)])
def test_tilings(count, size):
    tiling = Tiling(count, *size)
    assert tiling.rows * tiling.columns >= count > (tiling.rows - 1) * tiling.columns
    assert tiling.size[0] % 2 == tiling.size[1] % 2 == 0
    assert tiling.size[0] <= MAX_SIZE[1] and tiling.size[1] <= MAX_SIZE[0]
    if size == (480, 480) and count > 6:
        assert abs(tiling.size[1] / tiling.size[0] / ASPECT - 1) < 0.5
    frames = np.broadcast_to(np.arange(count, dtype=np.uint8)[:, None, None, None] + 1, (count, *size, 3))
    whole = tiled(frames, [""] * count, tiling) if size != (4096, 4096) else None
    if whole is not None:
        for k in range(count):
            y, x = tiling.place(k)
            assert (whole[y : y + tiling.tile[0], x : x + tiling.tile[1]] == k + 1).all()
