"""`envpool.record`: datasets equal what the pool has returned, and videos show it."""

import itertools
import json
import sys

import gymnasium
import imageio.v3
import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError
from envpool.evaluation.datasets import escaped, read_episodes, unescaped
from envpool.evaluation.episodes import stacks
from tests.support.python_envs import SpaceEnv


def played(task, num_envs, seeds, steps, **options):
    """Return the episodes of random actions by (env, number): observations, actions, rewards and ends, step by step."""
    found, rng = {}, np.random.default_rng(0)
    with envpool.make_gymnasium(task, num_envs=num_envs, **options) as pool:
        obs, _ = pool.reset(seed=seeds)
        numbers, begins = [0] * num_envs, np.zeros(num_envs, bool)
        for i in range(num_envs):
            found[i, 0] = [[obs[i]], [], [], []]
        for _ in range(steps):
            action = pool.sample_actions(rng)
            obs, reward, terminated, truncated, _ = pool.step(action)
            for i in range(num_envs):
                if begins[i]:
                    numbers[i] += 1
                    found[i, numbers[i]] = [[obs[i]], [], [], []]
                    continue
                one = found[i, numbers[i]]
                one[0].append(obs[i])
                one[1].append(action[i])
                one[2].append(reward[i])
                one[3].append((bool(terminated[i]), bool(truncated[i])))
            begins = terminated | truncated
    return found


def check(episode, expected, is_cut=False):
    obs, action, reward, ends = expected
    assert episode.obs["obs"].tobytes() == np.stack(obs).tobytes()
    assert episode.action["action"].tobytes() == np.stack(action).tobytes()
    assert episode.reward.tobytes() == np.stack(reward).tobytes()
    got = list(zip(episode.terminated.tolist(), episode.truncated.tolist(), strict=True))
    assert got[:-1] == ends[:-1] and got[-1] == ((ends[-1][0], True) if is_cut else ends[-1])


def test_a_dataset_has_the_first_episodes_of_each_environment(tmp_path):
    expected = played("CartPole-v1", 3, [4, 5, 6], 300)
    with envpool.make_gymnasium("CartPole-v1", num_envs=3, seed=4) as pool:
        result = envpool.record(pool, "random", tmp_path / "a.npz", episodes=8)
    episodes = list(read_episodes(tmp_path / "a.npz"))
    assert sorted((e.env_id, e.number) for e in episodes) == [(i, k) for i in range(3) for k in range(3 - (i == 2))]
    for episode in episodes:
        check(episode, expected[episode.env_id, episode.number])
        assert episode.seed == (4 + episode.env_id if episode.number == 0 else None)
    assert (result.episodes, result.steps) == (8, sum(map(len, episodes)))
    assert np.isclose(result.mean_return, result.steps / 8)
    with np.load(tmp_path / "a.npz") as file:
        starts = file["starts"]
        assert starts[-1] == len(file["reward"]) == len(file["obs"]) - 8
        assert file["length"].tolist() == np.diff(starts).tolist() == file["return"].tolist()
        about = json.loads(str(file["about"]))
    assert (about["task"], about["num_envs"], about["seeds"]) == ("CartPole-v1", 3, [4, 5, 6])


def test_a_number_of_steps_cuts_the_last_episodes(tmp_path):
    expected = played("CartPole-v1", 2, [4, 5], 400)
    with envpool.make_gymnasium("CartPole-v1", num_envs=2, seed=4) as pool:
        result = envpool.record(pool, "random", tmp_path / "a.npz", steps=501)
    assert 501 <= result.steps <= 502
    last = {}
    episodes = list(read_episodes(tmp_path / "a.npz"))
    for episode in episodes:
        last[episode.env_id] = episode.number
    for episode in episodes:
        want = [part[: len(episode) + (k == 0)] for k, part in enumerate(expected[episode.env_id, episode.number])]
        check(episode, want, is_cut=episode.number == last[episode.env_id] and not episode.terminated[-1])


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
def test_all_modes_record_the_last_observations(mode, tmp_path):
    with envpool.make_gymnasium("CartPole-v1", num_envs=2, seed=4, autoreset_mode=mode) as pool:
        envpool.record(pool, lambda obs: np.ones(2, int), tmp_path / "a.npz", episodes=4)
    for episode in read_episodes(tmp_path / "a.npz"):
        assert abs(episode.obs["obs"][-1, 2]) > 0.209 and (np.abs(episode.obs["obs"][:-1, 2]) < 0.2095).all()
        assert np.abs(episode.obs["obs"][0]).max() <= 0.05


@pytest.mark.parametrize(
    ("task", "options"),
    [("Breakout-v5", {}), ("Breakout-v5", {"gray_scale": False}), ("MinAtar/Freeway-v1", {"frame_stack": 4})],
)
def test_frames_are_stored_once(task, options, tmp_path):
    with envpool.make_gymnasium(task, num_envs=2, max_episode_steps=30, **options) as pool:
        whole = envpool.record(pool, "random", tmp_path / "whole.npz", episodes=4)
        once = envpool.record(pool, "random", tmp_path / "once.npz", episodes=4, frames_once=True)
    assert whole[1:] == once[1:]
    for one, other in zip(read_episodes(tmp_path / "whole.npz"), read_episodes(tmp_path / "once.npz"), strict=True):
        assert one.obs["obs"].shape == other.obs["obs"].shape
        assert one.obs["obs"].tobytes() == np.ascontiguousarray(other.obs["obs"]).tobytes()
    with np.load(tmp_path / "whole.npz") as a, np.load(tmp_path / "once.npz") as b:
        assert b["obs"].nbytes < 0.3 * a["obs"].nbytes


def test_stacks():
    frames = np.arange(6)[:, None, None] * np.ones((1, 2, 2), int)
    made = stacks(frames, 4, (4, 2, 2))
    assert made[1, :, 0, 0].tolist() == [1, 2, 3, 4] and np.shares_memory(made, frames)
    assert stacks(frames, 4, (8, 2))[1, ::2, 0].tolist() == [1, 2, 3, 4]


def test_files_that_are_no_datasets(tmp_path):
    path = tmp_path / "a.npz"
    with envpool.make_gymnasium("CartPole-v1", num_envs=2) as pool:
        envpool.record(pool, "random", path, episodes=2)
    whole = path.read_bytes()
    other = json.dumps({"version": 1})
    np.savez(tmp_path / "other.npz", about=np.array(other))
    for content in (b"", b"text", whole[: len(whole) // 2], (tmp_path / "other.npz").read_bytes()):
        path.write_bytes(content)
        with pytest.raises(ConfigError, match=r"path must be a dataset .* got .*a\.npz., which is another"):
            list(read_episodes(path))
    with pytest.raises(FileNotFoundError):
        list(read_episodes(tmp_path / "missing.npz"))


@pytest.mark.parametrize("observation", ["dict", "tuple", "discrete", "image"])
def test_python_environments_and_structured_spaces(observation, tmp_path):
    with envpool.make_python(lambda: SpaceEnv(observation, "dict"), 2) as pool:
        result = envpool.record(pool, "random", tmp_path / "a.npz", episodes=6)
    episodes = list(read_episodes(tmp_path / "a.npz"))
    assert sum(map(len, episodes)) == result.steps
    names = {"dict": {"obs:a", "obs:b.c.d"}, "tuple": {"obs:0", "obs:1.0", "obs:1.1"}}.get(observation, {"obs"})
    assert set(episodes[0].obs) == names and set(episodes[0].action) == {"action:a", "action:b.c.d"}
    assert all(len(array) == len(episodes[0]) + 1 for array in episodes[0].obs.values())


class Named(gymnasium.Env):
    """Its observations and actions are arrays of these names."""

    def __init__(self, observations=("a",), actions=("a",)):
        self.observation_space, self.action_space = self.space_of(observations), self.space_of(actions)

    def space_of(self, names):
        box = gymnasium.spaces.Box(-1, 1, (2,), np.float32)
        inner = {name: gymnasium.spaces.Dict(b=box) if name == "a" else box for name in names}
        return gymnasium.spaces.Dict(inner)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.observation_space.seed(seed)
        self.left = 3
        return self.observation_space.sample(), {}

    def step(self, action):
        self.left -= 1
        return self.observation_space.sample(), 1.0, self.left == 0, False, {}


SLASHES = ("walker", "walker/pos", "../../x", "/abs", "100%", "%2F", "%252F", "%25", "%2F/", ".")


@pytest.mark.parametrize("end", ["npz", "hdf5"])
def test_names_with_slashes(end, tmp_path):
    found = {}
    for k, kind in enumerate(("npz", end)):
        if kind == "hdf5":
            pytest.importorskip("h5py")
        with envpool.make_python(lambda: Named(SLASHES, SLASHES), 2) as pool:
            envpool.record(pool, "random", tmp_path / f"{k}.{kind}", episodes=2)
        found[k] = list(read_episodes(tmp_path / f"{k}.{kind}"))
    for one, other in zip(found[0], found[1], strict=True):
        assert set(one.obs) == {f"obs:{name}" for name in SLASHES} == set(other.obs)
        assert set(one.action) == {f"action:{name}" for name in SLASHES} == set(other.action)
        for name in SLASHES:
            assert np.array_equal(one.obs[f"obs:{name}"], other.obs[f"obs:{name}"])
            assert np.array_equal(one.action[f"action:{name}"], other.action[f"action:{name}"])


def test_escaped_names():
    assert all(escaped(name) == name for name in ("action", "obs:a.b", "obs:100%", "obs:%25"))
    parts = ("%", "25", "2F", "/", "%25", "a")
    names = {"".join(chosen) for n in range(5) for chosen in itertools.product(parts, repeat=n)}
    written = {name: escaped(name) for name in names}
    assert all(unescaped(text) == name and "/" not in text for name, text in written.items())
    assert len(set(written.values())) == len(written)


@pytest.mark.parametrize("end", [".npz", ".hdf5", "-v0"])
@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"observations": ("a", "a.b")}, "observation space must not have two arrays with one name .*'obs:a.b'"),
        ({"actions": ("a", "a.b")}, "action space must not have two arrays with one name .*'action:a.b'"),
        ({"observations": ("", "c")}, "observation space must not have empty keys in a dataset"),
        ({"actions": ("", "c")}, "action space must not have empty keys in a dataset"),
    ],
)
def test_names_that_are_refused(options, text, end, tmp_path):
    def play(obs):
        raise AssertionError("nothing may be played")

    with envpool.make_python(lambda: Named(**options), 2) as pool, pytest.raises(ConfigError, match=text):
        envpool.record(pool, play, tmp_path / f"a{end}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["walker/pos", "/", "."])
def test_names_that_minari_refuses(name, tmp_path):
    pytest.importorskip("h5py")
    text = f"keys of spaces must not be '.' .* Minari's format, got '{name}'"
    with envpool.make_python(lambda: Named((name,)), 2) as pool, pytest.raises(ConfigError, match=text):
        envpool.record(pool, "random", tmp_path / "a-v0")
    assert not list(tmp_path.iterdir())


def test_an_archive_is_replaced_by_a_complete_one_only(tmp_path):
    path = tmp_path / "a.npz"
    with envpool.make_gymnasium("CartPole-v1", num_envs=2) as pool:
        envpool.record(pool, "random", path, episodes=4)
        before, moves = path.read_bytes(), [np.ones(2, int)] * 50
        with pytest.raises(IndexError):
            envpool.record(pool, lambda obs: moves.pop(), path, episodes=40)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


def test_objects_are_refused(tmp_path):
    text = "the observations of this pool contain objects that are not arrays"
    with envpool.make_python(lambda: SpaceEnv("text", "discrete"), 2) as pool, pytest.raises(ConfigError, match=text):
        envpool.record(pool, "random", tmp_path / "a.npz")


def test_videos(tmp_path):
    with envpool.make_gymnasium(
        "CartPole-v1", num_envs=3, render_mode="rgb_array", render_width=60, render_height=40
    ) as pool:
        result = envpool.record(pool, "random", tmp_path / "a.mp4", steps=25)
        frames = imageio.v3.imread(tmp_path / "a.mp4")
        assert len(frames) == 26 and result.path == tmp_path / "a.mp4" and result.episodes > 0
        with pytest.raises(ConfigError, match="episodes is an option of datasets"):
            envpool.record(pool, "random", tmp_path / "a.mp4", episodes=2)
    with envpool.make_gymnasium("CartPole-v1") as pool, pytest.raises(ConfigError, match="render_mode='rgb_array'"):
        envpool.record(pool, "random", tmp_path / "a.mp4")


@pytest.mark.parametrize(
    ("path", "options", "text"),
    [
        ("a.csv", {}, r"path must end in .mp4 or .gif \(a video\), .npz, .h5 or .hdf5 \(a dataset\), or be a folder"),
        ("cartpole", {}, "must end in its version, such as cartpole-v0, got 'cartpole'"),
        ("nowhere/a.npz", {}, "the directory nowhere does not exist"),
        ("a.npz", {"episodes": 1, "steps": 1}, "episodes and steps exclude each other"),
        ("a.npz", {"episodes": 0}, "episodes must be"),
        ("a.npz", {"fps": 3}, "fps is an option of videos"),
        ("a.npz", {"frames_once": True}, "frames_once=True needs one array"),
        ("a-v0", {"frames_once": True}, "frames_once is not possible in Minari's format"),
    ],
)
def test_arguments_are_checked(path, options, text, monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", np)
    with envpool.make_gymnasium("CartPole-v1") as pool, pytest.raises(ConfigError, match=text):
        envpool.record(pool, "random", path, **options)


@pytest.mark.parametrize(("path", "kind"), [("a.hdf5", ".hdf5"), ("a-v0", "Minari")])
def test_a_missing_h5py_is_named(path, kind, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "h5py", None)
    monkeypatch.chdir(tmp_path)
    text = rf"{kind} datasets need h5py: pip install 'envpool-cython\[datasets\]'"
    with envpool.make_gymnasium("CartPole-v1") as pool, pytest.raises(ImportError, match=text):
        envpool.record(pool, "random", path)
    assert not list(tmp_path.iterdir())


def test_gymnasium_ids_are_not_pools():
    with pytest.raises(TypeError, match=r"^pool must be a pool of .*, got CartPole"):
        envpool.record(gymnasium.make("CartPole-v1").unwrapped, "random", "a.npz")
    envs = envpool.make_vec("CartPole-v1", 2)
    with pytest.raises(TypeError, match="got EnvPoolVectorEnv: make one with envpool"):
        envpool.record(envs, "random", "a.npz")
    envs.close()
