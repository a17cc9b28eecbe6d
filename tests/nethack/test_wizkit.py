"""Items that a reset gives to the player, upstream's ``reset(options={"wizkit_items": ...})``."""

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError
from envpool.nethack.upstream import NetHackOracle
from tests.support.saved import forged, refused, snapshot_at

ITEMS = ["meatball", "3 blessed scrolls of genocide"]
OPTIONS = {"wizard": True, "observation_keys": ("chars", "inv_strs", "blstats")}


def texts(inventory):
    return [bytes(row).rstrip(b"\0").decode() for row in inventory if row.any()]


def test_equals_upstream():
    theirs = NetHackOracle(task="NetHackScore", kwargs={**OPTIONS, "save_ttyrec_every": 0}).make()
    rng = np.random.default_rng(5)
    with envpool.make_gymnasium("NetHackScore-v0", num_envs=1, seed=5, **OPTIONS) as pool:
        for t, items in enumerate((ITEMS, ["apple"], None, [])):
            core, disp = map(int, rng.integers(2**63, size=2))
            theirs.nethack.set_initial_seeds(core, disp, False)
            expected, _ = theirs.reset(options={"wizkit_items": items or []})
            found, _ = pool.reset(options={"wizkit_items": items} if t < 3 else None)
            for action in (None, 3, 1, 5):
                if action is not None:
                    expected = theirs.step(action)[0]
                    found = pool.step(np.array([action]))[0]
                for name in OPTIONS["observation_keys"]:
                    assert np.array_equal(found[name][0], expected[name]), name
            assert any("meatball" in text for text in texts(found["inv_strs"][0])) == (t == 0)
    theirs.close()


def test_items_of_each_environment_and_saved_states():
    with envpool.make_gymnasium("NetHackScore-v0", num_envs=2, seed=3, **OPTIONS) as pool:
        obs, _ = pool.reset(options={"wizkit_items": [["meatball"], ["apple"]]})
        assert ["meatball" in str(texts(own)) for own in obs["inv_strs"]] == [True, False]
        pool.step(np.array([1, 1]))
        states = pool.get_state()
        expected = pool.step(np.array([2, 2]))[0]
        pool.reset()
        pool.set_state(states)
        found = pool.step(np.array([2, 2]))[0]
        assert all(np.array_equal(found[name], expected[name]) for name in OPTIONS["observation_keys"])


def test_what_is_refused():
    with envpool.make_gymnasium("NetHackScore-v0") as pool:
        with pytest.raises(ConfigError, match="needs the option wizard=True"):
            pool.reset(options={"wizkit_items": ["meatball"]})
        pool.reset(options={"wizkit_items": None})
    with envpool.make_gymnasium("NetHackScore-v0", seed=1, **OPTIONS) as pool:
        for items, text in (
            ("meatball", "must be a sequence of str"),
            (["a\nb"], r"\['wizkit_items'\]\[0\] must be printable ASCII"),
            (["a" * 100] * 50, "less than 4096 characters in all, got 5049"),
            ([3], r"\['wizkit_items'\]\[0\] must be of type str"),
        ):
            with pytest.raises(ConfigError, match=text):
                pool.reset(options={"wizkit_items": items})
        pool.reset(options={"wizkit_items": ["meatball"]})
        state = pool.get_state()
        refused(pool, forged(state, bytes(state).index(b"meatball") + 3 - snapshot_at(state), b"\0"))
