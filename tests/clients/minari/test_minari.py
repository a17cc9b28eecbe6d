"""HDF5 files, and datasets in Minari's format, which Minari's own reader loads."""

import json

import h5py
import minari
import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError
from envpool.evaluation.datasets import read_episodes, read_normalization
from tests.support.python_envs import SpaceEnv


def test_minari_loads_a_dataset(tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    with envpool.make_gymnasium("CartPole-v1", num_envs=3, seed=5) as pool:
        result = envpool.record(pool, "random", tmp_path / "cartpole-random-v0", episodes=7)
        envpool.record(pool, "random", tmp_path / "a.npz", episodes=7)
        space = pool.observation_space
    dataset = minari.load_dataset("cartpole-random-v0")
    assert (dataset.total_episodes, dataset.total_steps) == (7, result.steps)
    assert dataset.observation_space == space
    assert dataset.action_space.n == 2
    for theirs, own in zip(dataset.iterate_episodes(), read_episodes(tmp_path / "a.npz"), strict=True):
        assert theirs.observations.tobytes() == own.obs["obs"].tobytes()
        assert theirs.actions.tobytes() == own.action["action"].tobytes()
        assert theirs.rewards.tobytes() == own.reward.tobytes()
        assert theirs.terminations.tolist() == own.terminated.tolist()
        assert theirs.truncations.tolist() == own.truncated.tolist()
    metadata = list(dataset.storage.get_episode_metadata(range(3)))
    assert sorted(m["seed"] for m in metadata if "seed" in m)
    assert len(dataset.sample_episodes(3)) == 3
    with envpool.make_gymnasium("CartPole-v1") as pool, pytest.raises(ConfigError, match="exists: remove it"):
        envpool.record(pool, "random", tmp_path / "cartpole-random-v0")


def test_datasets_have_the_statistics_of_a_pool_that_normalises(tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    # The statistics of an image are longer than 64 KiB, which an HDF5 attribute of a fixed size may not exceed.
    options = {"num_envs": 2, "normalize_obs": True, "max_episode_steps": 5}
    with envpool.make_gymnasium("Pong-v5", **options) as pool:
        pool.reset()
        expected = pool.normalization.get()
        for name in ("a.hdf5", "pong-v0"):
            envpool.record(pool, "random", tmp_path / name)
        pool.normalization.set(read_normalization(tmp_path / "a.hdf5"))
        assert all(array.tobytes() == expected[name].tobytes() for name, array in pool.normalization.get().items())
    metadata = json.loads((tmp_path / "pong-v0/data/metadata.json").read_text())
    assert metadata["normalization"]["obs.mean"] == expected["obs.mean"].tolist()
    assert metadata["normalize_obs"] == {"epsilon": 1e-8}
    assert minari.load_dataset("pong-v0").total_episodes == 2


@pytest.mark.parametrize("name", ["a.hdf5", "a-v0"])
def test_datasets_are_not_touched_before_there_is_an_episode(name, tmp_path):
    path = tmp_path / name
    with envpool.make_gymnasium("CartPole-v1", num_envs=2) as pool:
        for _ in range(2):  # the second time, the first has left nothing
            with pytest.raises(ZeroDivisionError):
                envpool.record(pool, lambda obs: 1 / 0, path)
            assert not path.exists()
        envpool.record(pool, "random", path)
        if path.is_dir():
            return
        with pytest.raises(ZeroDivisionError):
            envpool.record(pool, lambda obs: 1 / 0, path)
        assert len(list(read_episodes(path))) == 2
        moves = [np.ones(2, int)] * 50
        with pytest.raises(IndexError):
            envpool.record(pool, lambda obs: moves.pop(), path, episodes=40)
    assert 2 < len(list(read_episodes(path))) < 40


@pytest.mark.parametrize(
    "observation", ["box", "discrete", "multi_discrete", "multi_binary", "dict", "tuple", "image", "int16"]
)
def test_spaces(observation, tmp_path):
    with envpool.make_python(lambda: SpaceEnv(observation, "dict"), 2) as pool:
        envpool.record(pool, "random", tmp_path / "spaces-v1", episodes=4)
        envpool.record(pool, "random", tmp_path / "a.hdf5", episodes=4)
    dataset = minari.MinariDataset(tmp_path / "spaces-v1" / "data")
    for theirs, own in zip(dataset, read_episodes(tmp_path / "a.hdf5"), strict=True):
        flat = np.concatenate([np.ravel(x) for x in leaves(theirs.observations)])
        assert flat.tolist() == np.concatenate([np.ravel(x) for x in own.obs.values()]).tolist()
        assert theirs.actions["a"].tolist() == own.action["action:a"].tolist()


def leaves(nest):
    if isinstance(nest, dict):
        return [x for value in nest.values() for x in leaves(value)]
    return [x for value in nest for x in leaves(value)] if isinstance(nest, tuple) else [nest]


def test_spaces_without_a_form_are_refused(tmp_path):
    pool = envpool.make_python(lambda: SpaceEnv("text", "discrete"), 2)
    with pool, pytest.raises(ConfigError, match="Minari's format has no Text spaces"):
        envpool.record(pool, "random", tmp_path / "text-v0")
    assert not (tmp_path / "text-v0").exists()


def test_frames_keep_their_bits_and_hdf5_stores_them_once(tmp_path):
    with envpool.make_gymnasium("Breakout-v5", num_envs=2, max_episode_steps=20) as pool:
        envpool.record(pool, "random", tmp_path / "breakout-v0")
        envpool.record(pool, "random", tmp_path / "a.h5", frames_once=True)
    dataset = minari.MinariDataset(tmp_path / "breakout-v0" / "data")
    for theirs, own in zip(dataset, read_episodes(tmp_path / "a.h5"), strict=True):
        assert theirs.observations.tobytes() == np.ascontiguousarray(own.obs["obs"]).tobytes()
    with h5py.File(tmp_path / "a.h5") as file:
        assert file["obs"].shape == (2 * (20 + 4), 84, 84) and file["obs"].compression == "gzip"


def test_hdf5_has_the_arrays_of_players(tmp_path):
    with envpool.make_gymnasium("MPE/simple_tag-v3", num_envs=2, players="grid") as pool:
        for suffix in ("npz", "hdf5"):
            envpool.record(pool, "random", tmp_path / f"tag.{suffix}", episodes=3)
    files = (read_episodes(tmp_path / f"tag.{suffix}") for suffix in ("npz", "hdf5"))
    for one, other in zip(*files, strict=True):
        assert one.reward.shape == (25, 4) and one.players.keys() == other.players.keys()
        assert one.reward.tobytes() == other.reward.tobytes()
        for name, array in one.players.items():
            assert array.tobytes() == other.players[name].tobytes()
    with h5py.File(tmp_path / "tag.hdf5") as file:
        assert file["player_return"].shape == (3, 4) and file["player_mask"].shape == (78, 4)
