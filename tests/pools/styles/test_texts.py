"""Texts of environments: sequences of str that are decoded when they are read."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from envpool.pools.styles import texts
from envpool.pools.styles.texts import Texts

ROWS = np.array([[c for c in word.ljust(5, b"\0")] for word in (b"ab", b"", b"a b,c")], np.uint8)
WORDS = ["ab", "", "a b,c"]


def test_it_is_a_sequence_of_str() -> None:
    found = Texts(ROWS)
    assert len(found) == 3
    assert list(found) == WORDS
    assert [found[i] for i in range(-3, 3)] == WORDS + WORDS
    assert found == WORDS and found == tuple(WORDS) and found == Texts(ROWS.copy())
    assert found != WORDS[::-1] and found != "ab"
    assert "a b,c" in found and found.index("") == 1 and found.count("ab") == 1
    assert repr(found) == "Texts(['ab', '', 'a b,c'])"
    with pytest.raises(IndexError):
        found[3]


def test_parts_are_texts_that_show_the_same_array() -> None:
    found = Texts(ROWS)
    assert found[1:] == WORDS[1:] and np.shares_memory(found[1:].rows, ROWS)
    assert found[np.array([True, False, True])] == ["ab", "a b,c"]
    assert found[[2, 0]] == ["a b,c", "ab"]


def test_arrays() -> None:
    found = np.asarray(Texts(ROWS))
    assert found.dtype == object and found.tolist() == WORDS
    assert np.asarray(Texts(ROWS), np.str_).dtype == np.dtype("<U5")
    with pytest.raises(ValueError, match="copy must be None or True, got False"):
        np.array(Texts(ROWS), copy=False)


def test_copies() -> None:
    found = Texts(ROWS)
    assert pickle.loads(pickle.dumps(found)) == WORDS
    assert copy.deepcopy(found) == WORDS
    with pytest.raises(TypeError, match="unhashable"):
        hash(found)


def test_nothing_is_decoded_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    monkeypatch.setattr(texts, "decode", lambda row: calls.append(1) or "")
    found = Texts(ROWS)
    len(found), found[1:], found.rows
    assert not calls
    found[0]
    assert len(calls) == 1
