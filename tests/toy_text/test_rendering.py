"""Pictures of the toy text tasks equal gymnasium's, pixel by pixel."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError
from envpool.raster import sheet
from tests.support.oracles.gymnasium_frames import (
    RECORDS,
    assert_pictures,
    assert_rendering_changes_nothing,
    smoothly_scaled,
)
from tests.support.oracles.gymnasium_oracle import Upstream, unchanged
from tests.toy_text.upstream import Case

SEEDS = [pytest.param(1, RECORDS, id="short"), pytest.param(2, range(101), id="full", marks=pytest.mark.slow)]
LAKE = ["SFFHF", "FFGSF"]
CASES = [
    Case("FrozenLake-v1"),
    Case("FrozenLake8x8-v1"),
    Case("FrozenLake-v1", {"is_slippery": False}),
    Case("FrozenLake-v1", {"desc": LAKE}),
    Case("CliffWalking-v0"),
    Case("CliffWalking-v1"),
    Case("CliffWalkingSlippery-v1"),
    Case("Taxi-v3"),
    Case("Taxi-v4", {"is_rainy": True, "fickle_passenger": True}),
    Case("Blackjack-v1"),
]
#: Height and width: out of proportion, and without a whole number of pixels for each cell.
SIZES = [(100, 150), (600, 301)]


def with_pictures(case: Case, prepare: Callable[[gymnasium.Env[Any, Any]], None] | None = None) -> Upstream:
    return replace(case.upstream, kwargs={**case.upstream.kwargs, "render_mode": "rgb_array"}, prepare=prepare)


def set_lake(env: gymnasium.Env[Any, Any], height: int, width: int) -> None:
    inner: Any = env.unwrapped
    inner.window_size, inner.cell_size = (width, height), (width // inner.ncol, height // inner.nrow)


def set_cliff(env: gymnasium.Env[Any, Any], height: int, width: int) -> None:
    """Its images are scaled by the width of a cell alone: cells are squares."""
    side = min(height // 4, width // 12)
    env.unwrapped.window_size, env.unwrapped.cell_size = (width, height), (side, side)


@pytest.mark.parametrize(("seeds", "records"), SEEDS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_default_size(case: Case, seeds: int, records: Any) -> None:
    for seed in range(seeds):
        assert_pictures(
            case.task_id,
            with_pictures(case),
            options=case.options,
            seed=seed,
            records=records,
            renders_always=case.task_id.startswith("Taxi"),
        )


@pytest.mark.parametrize(("seeds", "records"), SEEDS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_other_sizes(case: Case, seeds: int, records: Any) -> None:
    """Where upstream has no size, its picture is scaled smoothly."""
    family = case.task_id.partition("-")[0]
    for size in SIZES:
        set_size = set_lake if family.startswith("FrozenLake") else set_cliff if family.startswith("Cliff") else None
        for seed in range(seeds):
            assert_pictures(
                case.task_id,
                with_pictures(case, set_size and partial(set_size, height=size[0], width=size[1])),
                size=size,
                options=case.options,
                seed=seed,
                records=records,
                frame=unchanged if set_size else smoothly_scaled(*size),
                renders_always=family == "Taxi",
            )


def test_every_card() -> None:
    """All cards, sums and usable aces appear in so many hands."""
    upstream = with_pictures(Case("Blackjack-v1"))
    assert_pictures("Blackjack-v1", upstream, num_envs=40, records=range(8), actions="sticky")


def test_large_maps() -> None:
    """Upstream's picture has 512 pixels at most."""
    for rows, columns in ((3, 40), (70, 7), (2, 600)):
        desc = ["S" + "F" * (columns - 1)] + ["FH" * (columns // 2) + "F" * (columns % 2)] * (rows - 2)
        case = Case("FrozenLake-v1", {"desc": [*desc, "F" * (columns - 1) + "G"]})
        assert_pictures(case.task_id, with_pictures(case), options=case.options, records=(0, 9), num_envs=1)


@pytest.mark.parametrize("case", [*CASES, Case("Catch-v0")], ids=str)
def test_rendering_changes_nothing(case: Case) -> None:
    assert_rendering_changes_nothing(case.task_id, **case.options)


def test_catch_shows_its_observation() -> None:
    with envpool.make_gymnasium("Catch-v0", num_envs=5, render_mode="rgb_array") as pool:
        obs, _ = pool.reset()
        for _ in range(12):
            pictures = pool.render(range(5))
            assert pictures.shape == (5, 320, 160, 3)
            expected = np.kron(obs, np.ones((32, 32)))[..., None] * 255
            np.testing.assert_array_equal(pictures, np.broadcast_to(expected, pictures.shape))
            obs = pool.step(np.array([0, 1, 2, 0, 2]))[0]


@pytest.mark.parametrize(("height", "width"), [(2, 1), (7, 1000), (4096, 4096)])
def test_catch_of_any_size(height: int, width: int) -> None:
    """Ball and paddle are there, even where a pixel shows several cells."""
    for picture in ((0, 0), (5, 1), (33, 77)):
        with envpool.make_gymnasium(
            "Catch-v0",
            height=height,
            width=width,
            render_mode="rgb_array",
            render_height=picture[0],
            render_width=picture[1],
        ) as pool:
            pool.reset()
            drawn = pool.render()[0]
            assert drawn[0].any() and drawn[-1].any()
            assert set(np.unique(drawn)) <= {0, 255}


def test_a_task_without_pictures() -> None:
    with pytest.raises(ConfigError, match="NChain-v0 has no renderer"):
        envpool.make_gymnasium("NChain-v0", render_mode="rgb_array")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_without_pygame_or_images(case: Case, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    def make() -> None:
        envpool.make_gymnasium(case.task_id, render_mode="rgb_array", **case.options).close()

    monkeypatch.setattr(gymnasium, "__file__", str(tmp_path / "__init__.py"))
    with pytest.raises(ImportError, match=r"has no image toy_text/img.*pip install 'gymnasium>=1.4'"):
        make()
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(ImportError, match=r"need pygame: pip install 'envpool\[render\]'"):
        make()


def test_sheet() -> None:
    """Images and numbers are where the header says."""
    images = [np.arange(24, dtype=np.uint8).reshape(2, 3, 4), np.arange(6, dtype=np.uint8).reshape(1, 2, 3)]
    packed = sheet.pack(images, [7, -8])
    head = np.frombuffer(packed[:48], np.int32).tolist()
    assert head == [2, 2, 2, 3, 4, 48, 1, 2, 3, 72, 7, -8]
    assert packed[48:72] == images[0].tobytes()
    assert packed[72:] == images[1].tobytes()
