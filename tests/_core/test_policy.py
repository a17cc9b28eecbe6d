"""Decisions of the scheduler."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builds import load_hook


@pytest.fixture(scope="module")
def hook() -> Any:
    return load_hook(Path(__file__).parent / "hook", "policy_hook")


@given(data=st.data())
def test_claims_whatever_a_thread_reads(hook: Any, data: st.DataObject) -> None:
    """A slow claimer reads positions of the queue from different batches: they may be equal, or in the wrong order.

    `num_threads` and `parked` are read at different moments as well. With `base == head` and lanes, a division by zero
    ended the process.
    """
    number = st.integers
    base = data.draw(number(0, 1000), "base")
    available = data.draw(number(1, 1000), "available")
    claimed = hook.claim(
        base + data.draw(st.one_of(st.just(0), number(-300, 300)), "in flight"),
        base,
        available,
        data.draw(st.one_of(number(0, 100), number(0, 10**9)), "cost"),
        lanes=data.draw(st.sampled_from([0, 1, 4, 8, 64]), "lanes"),
        is_sync=data.draw(st.booleans(), "is_sync"),
        batch_size=data.draw(number(1, 300), "batch_size"),
        doublings=data.draw(number(0, 4), "doublings"),
        active=data.draw(number(0, 4), "active"),
        num_threads=data.draw(number(0, 8), "num_threads"),
        parked=data.draw(number(0, 8), "parked"),
    )
    assert 1 <= claimed <= available
