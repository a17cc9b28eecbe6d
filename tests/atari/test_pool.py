"""Pools of games beyond stepping: seeds, discounts, missing ROMs, memory."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import numpy as np
import pytest
from ale_py import roms

import envpool
from envpool.atari import roms as own_roms
from envpool.errors import EnvStepError
from tests.atari.oracle import Game


def test_reset_with_a_seed_starts_anew() -> None:
    """The same seed creates the same consoles, even after steps with sticky actions."""
    options = {"repeat_action_probability": 0.5, "num_envs": 3, "num_threads": 2}
    actions = np.random.default_rng(0).integers(0, 4, (40, 3))
    with envpool.make_gymnasium("Breakout-v5", seed=7, **options) as pool:
        runs = []
        for seed in (None, 8, 7, [7, 8, 9]):
            obs, info = pool.reset(seed=seed)
            results = [obs, info["ram"]]
            for action in actions:
                obs, *_, info = pool.step(action)
                results += [obs, info["ram"]]
            runs.append(np.concatenate([np.ravel(r) for r in results]))
    assert np.array_equal(runs[0], runs[2])
    assert np.array_equal(runs[0], runs[3])
    assert not np.array_equal(runs[0], runs[1])


def test_reset_without_a_seed_draws_on() -> None:
    with envpool.make_gymnasium("Breakout-v5", seed=3) as pool:
        game = Game(pool.spec.config._asdict(), 3)
        for _ in range(6):
            obs, _ = pool.reset()
            game.reset()
            assert np.array_equal(obs[0], game.values()["obs"])


@pytest.mark.parametrize("batch_size", [2, 1])
def test_discount(batch_size: int) -> None:
    """The discount is zero when a life is lost, and when the episode ends."""
    with (
        envpool.make_dm(
            "Breakout-v5", num_envs=2, batch_size=batch_size, zero_discount_on_life_loss=True, seed=0, noop_max=1
        ) as pool,
        envpool.make_dm("Breakout-v5", num_envs=2, batch_size=batch_size, seed=0, noop_max=1) as plain,
    ):
        pools = (pool, plain)
        for p in pools:
            p.async_reset()
        lives = np.zeros(2, int)
        cuts = 0
        for _ in range(400):
            steps = [p.recv() for p in pools]
            for step in steps[:1]:
                ids = step.observation.env_id
                lost = (step.observation.lives < lives[ids]) & ~step.first()
                lives[ids] = step.observation.lives
                assert np.array_equal(step.discount == 0, lost | step.last())
                cuts += int((lost & ~step.last()).sum())
            assert np.array_equal(steps[1].discount == 0, steps[1].last())
            for p, step in zip(pools, steps, strict=True):
                p.send(np.ones(batch_size, np.int32), step.observation.env_id)
        assert cuts > 4


def test_rom_may_go_once_the_pool_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Consoles are rebuilt for each seed."""
    monkeypatch.setattr(own_roms, "rom_folder", lambda: tmp_path)
    rom = tmp_path / "pong.bin"
    rom.write_bytes(Path(roms.get_rom_path("pong")).read_bytes())
    with envpool.make_gymnasium("Pong-v5", num_envs=2) as pool:
        first, _ = pool.reset()
        rom.unlink()
        again, _ = pool.reset(seed=42)
        assert np.array_equal(first, again)


def test_console_that_cannot_be_built() -> None:
    """The env fails, the pool continues, and the env recovers when the ROM is available again."""
    before = rom_descriptors()
    with envpool.make_gymnasium("Pong-v5", num_envs=2) as pool:
        first, _ = pool.reset()
        (rom,) = rom_descriptors() - before
        kept = os.dup(rom)
        os.close(rom)
        with pytest.raises(EnvStepError, match="env 1: the console could not be built"):
            pool.reset(seed=42)
        obs, *_ = pool.recv()
        assert not obs.any()
        os.dup2(kept, rom)
        os.close(kept)
        again, _ = pool.reset()
        assert np.array_equal(again, first)
    assert rom_descriptors() == before


def rom_descriptors() -> set[int]:
    """Return the file descriptors of ROMs in memory."""
    names = {int(entry.name): os.readlink(entry) for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink()}
    return {fd for fd, name in names.items() if "envpool-rom" in name}


def test_height_of_other_consoles() -> None:
    """Some games have more than 210 rows; a frame of the game's own size is not resized."""
    with envpool.make_gymnasium("AirRaid-v5", img_height=250, img_width=160, seed=1) as pool:
        game = Game(pool.spec.config._asdict(), 1)
        game.reset()
        obs, _ = pool.reset()
        assert game.screen().shape == (250, 160)
        assert np.array_equal(obs[0, -1], game.screen())


def test_pool_that_does_not_fit() -> None:
    with pytest.raises(MemoryError):
        envpool.make_gymnasium("Pong-v5", num_envs=100_000, img_height=4096, img_width=4096, stack_num=1024)


@pytest.mark.slow
def test_memory_does_not_grow() -> None:
    """Memory stays constant over 200,000 steps with resets and new seeds."""
    actions = np.random.default_rng(0).integers(0, 4, (2500, 16))
    with envpool.make_gymnasium("Breakout-v5", num_envs=16, num_threads=2, frame_skip=1) as pool:
        used = []
        for seed in range(5):
            pool.reset(seed=seed)
            for action in actions:
                pool.step(action)
            used.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    assert used[-1] - used[0] < 4096, f"peak memory in KiB after each 40,000 steps: {used}"
