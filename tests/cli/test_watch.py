"""``envpool watch``."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import imageio.v3
import numpy as np
import pytest

import envpool
from envpool.cli.main import main
from envpool.cli.watch.output import open_output
from envpool.cli.watch.policy import load_policy
from envpool.evaluation.tiling import ASPECT, MAX_SIZE, Tiling, tiled
from envpool.pools.env_pool import EnvPool
from tests._support.test_window import Screen
from tests.cli.command import COMMAND, ENVIRONMENT, run_command
from tests.support import plugin
from tests.support.process import resident, wait_until

TASK = ["watch", "Synthetic-v0", "--option", "render_height=60", "--option", "render_width=80"]


@pytest.fixture(autouse=True)
def task():
    plugin.load()


@pytest.fixture(autouse=True)
def modules(monkeypatch):
    """Lets the module of a policy exist during a test only: others import modules of the same names."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in ("policy", "saved_policy", "calm"):
        monkeypatch.setitem(sys.modules, name, None)


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
    assert frame.shape == (2 * (20 + 240) + 2, 2 * 320 + 2, 3)
    plain = (np.arange(60 * 80 * 3) + 3).astype(np.uint8).reshape(60, 80, 3)
    for y in (20, 282):
        for x in (0, 322):
            np.testing.assert_array_equal(
                frame[y + 4 : y + 240, x : x + 320], plain[1:].repeat(4, 0).repeat(4, 1)
            )  # row 0 names the env


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


@pytest.mark.parametrize(
    ("task_id", "options", "fps", "camera"),
    [
        ("HalfCheetah-v5", [], 20, "track"),
        ("HalfCheetah-v5", ["--option", "render_camera_id=0", "--option", "frame_skip=10"], 10, None),
        ("Pong-v5", [], 15, "track"),
    ],
)
def test_camera_and_real_time(task_id, options, fps, camera, monkeypatch, tmp_path, capsys):
    """`watch` follows the robot, and plays at the speed of the simulation, which metadata of upstream may not name."""
    seen = []
    monkeypatch.setattr(
        EnvPool, "render", lambda pool, ids, camera: seen.append(camera) or np.zeros((len(ids), 8, 8, 3), np.uint8)
    )
    path = tmp_path / "a.png"
    small = [f"--option=render_{side}=8" for side in ("width", "height")]
    assert main(["watch", task_id, "--out", str(path), "--steps", "2", "--num-envs", "1", *options, *small]) == 0
    assert seen == [camera] * 3
    assert capsys.readouterr().out.endswith(f"of 1 envs, {fps} frames per second\n")


def test_a_window(monkeypatch, calm):
    screen = Screen()
    monkeypatch.setitem(sys.modules, "cv2", screen)
    monkeypatch.setattr("envpool._support.window.display_error", lambda: "")
    monkeypatch.delenv("SDL_VIDEODRIVER", raising=False)
    assert watch("--window", "--steps", 3, "--num-envs", 1, "--fps", 1000, "--policy", calm) == 0
    assert len(screen.shown) == 4 and not screen.open


def test_a_policy_sees_all_observations(tmp_path):
    policy = tmp_path / "policy.py"
    policy.write_text("def act(obs):\n    assert obs.shape == (3, 6), obs\n    return obs[:, 0] + 1\n")
    with envpool.make_gymnasium("Synthetic-v0", num_envs=3) as pool:
        act = load_policy(f"{policy}:act", pool)
        assert act(np.arange(18).reshape(3, 6)).tolist() == [1, 7, 13]
        random = load_policy("random", pool)
        drawn = np.array([random(None) for _ in range(200)])
        assert drawn.shape == (200, 3) and len(np.unique(drawn)) > 90


def test_random_moves_of_a_game_with_turns_are_legal():
    with envpool.make_gymnasium("ConnectFour-v0", num_envs=3, players="grid") as pool:
        random = load_policy("random", pool)
        obs, _ = pool.reset()
        for _ in range(60):
            obs, *_ = pool.step(random(obs))


def test_players_against_opponents(tmp_path, capsys):
    out = ["ConnectFour-v0", "--steps", "1", "--out", str(tmp_path / "a.gif"), "--option"]
    assert main(["watch", *out, "controlled=1"]) == 0
    assert main(["watch", *out, "controlled=alternate"]) != 0
    assert "controlled must name players here, such as 0, got 'alternate'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--out", "a.avi"], "--out must end in one of .mp4, .gif, .png, got 'a.avi'"),
        (["--out", "no/folder/a.mp4"], "cannot write no/folder/a.mp4: the directory no/folder does not exist"),
        (["--out", "a.png", "--load", "a.pt"], "--load needs a function that loads the file: pass --policy"),
        (["--out", "a.png", "--window"], "leave out --window or --out"),
        (["--out", "a.png", "--policy", "best"], "--policy must be random or FILE.py:function, got 'best'"),
        (["--out", "a.png", "--policy", "no.py:act"], "--policy: the file 'no.py' does not exist"),
        (["--out", "a.png", "--policy", f"{__file__}:nothing"], "has no function 'nothing'"),
        (["--out", "a.png", "--option", "render_width=-3"], "render_width must be between 1 and 4096 pixels"),
        (["--window"], "the installed OpenCV cannot open any: pip install pygame-ce"),
    ],
)
def test_mistakes(arguments, text, capsys, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pygame", None)
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
            y, x = tiling.corner_of(k)
            assert y + tiling.tile[0] <= tiling.size[0] and x + tiling.tile[1] <= tiling.size[1]
            assert (whole[y : y + tiling.tile[0], x : x + tiling.tile[1]] == k + 1).all()


@pytest.mark.parametrize("count", [1, 4, 9, 16, 25, 64, 100])
@pytest.mark.parametrize("size", [(210, 160), (400, 600)])
def test_square_numbers_make_square_grids(count, size):
    tiling = Tiling(count, *size)
    assert tiling.rows == tiling.columns == count**0.5


@pytest.mark.parametrize("shade", [0, 255])
def test_captions_are_outside_of_the_frames_and_readable_beside_any(shade):
    """A game's score stays visible, and the caption is white on a dark strip, also above a white frame."""
    frames = np.full((9, 210, 160, 3), shade, np.uint8)
    tiling = Tiling(9, 210, 160)
    whole = tiled(frames, ["step 1234  return -1234.5"] * 9, tiling)
    for k in range(9):
        y, x = tiling.corner_of(k)
        tile = whole[y : y + tiling.tile[0], x : x + tiling.tile[1]]
        strip = whole[y - tiling.caption : y, x : x + tiling.tile[1]]
        assert (tile == shade).all()
        assert (strip > 160).all(axis=-1).sum() > 50 and np.median(strip) < 64
        assert strip[:, -2:].max() < 64, "the longest caption fits"


def test_the_default_is_an_mp4_file_named_after_the_task(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["watch", "MinAtar/Breakout-v1", "--steps", "3"]) == 0
    assert capsys.readouterr().out == "MinAtar-Breakout-v1.mp4: 3 steps of 4 envs, 20 frames per second\n"
    assert len(imageio.v3.imread("MinAtar-Breakout-v1.mp4")) == 4


def test_a_task_of_dm_control(tmp_path):
    policy = tmp_path / "policy.py"
    policy.write_text(
        "import numpy as np\ndef act(obs):\n    assert obs['position'].shape == (2, 8)\n    return np.zeros((2, 6))\n"
    )
    path = tmp_path / "a.mp4"
    arguments = ["--num-envs", "2", "--steps", "2", "--policy", f"{policy}:act", "--out", str(path)]
    assert main(["watch", "CheetahRun-v1", *arguments]) == 0
    assert len(imageio.v3.imread(path)) == 3


@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_ctrl_c_leaves_a_file_of_what_was_seen(suffix, tmp_path):
    """The signal goes to all processes of the terminal, as Ctrl-C does."""
    policy, begun, path = tmp_path / "policy.py", tmp_path / "begun", tmp_path / f"a{suffix}"
    policy.write_text(
        "import pathlib\n"
        "calls = []\n"
        "def act(obs):\n"
        "    calls.append(1)\n"
        f"    len(calls) < 10 or pathlib.Path({str(begun)!r}).touch()\n"
        "    return [0] * len(obs)\n"
    )
    command = [*COMMAND, "watch", "CartPole-v1", "--policy", f"{policy}:act", "--steps", "1000000", "--out", path]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, start_new_session=True
    )
    wait_until(lambda: begun.exists() or process.poll() is not None)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (130, "")
    assert out.startswith(f"{path}: stopped by Ctrl-C after ") and " of 1000000 steps of 4 envs" in out
    steps = int(out.split(" after ")[1].split()[0])
    assert steps >= 9
    assert len(imageio.v3.imread(path)) == steps + 1


@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_memory_does_not_grow_with_the_number_of_frames(suffix, tmp_path):
    output = open_output(tmp_path / f"a{suffix}", "", 25)
    frame = np.zeros((300, 400, 3), np.uint8)

    def add(count):
        for k in range(count):
            frame[:] = k % 251
            output.add(frame)

    add(20)
    before = resident()
    add(200)  # 72 MB
    assert resident() - before < 20e6
    output.close()


def test_progress_on_a_terminal(monkeypatch, capsys, tmp_path, calm):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert watch("--out", tmp_path / "a.gif", "--steps", 5, "--policy", calm) == 0
    shown = capsys.readouterr().err
    assert "step 0 of 5" in shown and "\n" not in shown
    assert shown.endswith("\r\x1b[K")


def test_a_saved_policy_is_loaded(tmp_path):
    """`load` imports a module beside its file, and what it loads may be a pickled class of its own."""
    (tmp_path / "beside.py").write_text("VALUE = 7\n")
    policy = tmp_path / "saved_policy.py"
    policy.write_text(
        "import pickle\nimport beside\n"
        "class Act:\n"
        "    def __call__(self, obs):\n"
        "        return [beside.VALUE] * len(obs)\n"
        "def load(path):\n"
        "    return pickle.load(open(path, 'rb'))\n"
    )
    saved = tmp_path / "saved.pkl"
    save = f"import sys, pickle; sys.path.insert(0, {str(tmp_path)!r}); import saved_policy"
    subprocess.run(
        [sys.executable, "-c", f"{save}; pickle.dump(saved_policy.Act(), open({str(saved)!r}, 'wb'))"], check=True
    )
    act = load_policy(f"{policy}:load", None, str(saved))
    assert act(np.zeros((3, 6))) == [7, 7, 7]


BROKEN = {
    "act": ("def act(obs):\n    return obs['no such key']\n", [], "a.py:act: IndexError, see above"),
    "load": ("def act(path):\n    return open(path)\n", ["--load", "no.pt"], "FileNotFoundError, see above"),
    "file": ("import numpy\nnumpy.no_such_name\n", [], "a.py could not be executed: AttributeError, see above"),
    "exit": ("import sys\ndef act(obs):\n    sys.exit()\n", [], "a.py:act: SystemExit, see above"),
    "syntax": ("def act(obs:\n", [], "a.py could not be executed: SyntaxError, see above"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_traceback_of_the_policy_shows_its_own_lines(case, tmp_path, capsys):
    code, arguments, text = BROKEN[case]
    policy = tmp_path / "a.py"
    policy.write_text(code)
    assert watch("--out", tmp_path / "a.gif", "--policy", f"{policy}:act", *arguments) == 2
    shown = capsys.readouterr().err
    assert text in shown.splitlines()[-1]
    assert f'File "{policy}", line ' in shown and "watch/policy.py" not in shown
    assert code.splitlines()[-1].strip() in shown


def test_a_load_function_must_return_a_policy(tmp_path, capsys):
    policy = tmp_path / "a.py"
    policy.write_text("def act(obs): return None\n")
    assert watch("--out", tmp_path / "a.gif", "--policy", f"{policy}:act", "--load", "a.pt") == 2
    assert "must return a function if --load is given, got None" in capsys.readouterr().err
