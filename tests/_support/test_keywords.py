"""Arguments with two names."""

import inspect

import numpy as np
import pytest

import envpool
from envpool._support.keywords import with_alias


@with_alias("ids", "id")
def function(first, id=None):
    """Return both."""
    return first, id


def test_both_names_are_taken():
    assert function(1, 2) == function(1, id=2) == function(1, ids=2) == (1, 2)
    assert function(1) == (1, None)


def test_only_one_name_is_shown():
    assert list(inspect.signature(function).parameters) == ["first", "id"]
    assert function.__doc__ == "Return both."


def test_one_argument_is_given_once():
    with pytest.raises(TypeError, match=r"function\(\) takes id or ids, two names of one argument, not both"):
        function(1, id=2, ids=2)
    with pytest.raises(TypeError, match="multiple values for argument 'id'"):
        function(1, 2, ids=2)


@pytest.mark.parametrize("word", ["env_id", "env_ids"])
def test_methods_of_pools_take_both_words(word):
    with envpool.make_gymnasium("CartPole-v1", num_envs=3, render_mode="rgb_array") as pool:
        pool.reset()
        ids = {word: [2, 0]}
        assert len(pool.get_state(**ids)) == len(pool.render(**ids)) == 2
        pool.set_params({"gravity": [1.0, 2.0]}, **ids)
        assert pool.get_params(**ids)["gravity"].tolist() == [1.0, 2.0]
        pool.set_state(pool.get_state(), **{word: [1, 2, 0]})
        pool.send(np.zeros(3, np.int32))
        assert pool.recv(**ids)[-1]["env_id"].tolist() == [2, 0]
        pool.recv()
        assert pool.call("max_episode_steps", **ids) == pool.get_attr("max_episode_steps", **ids) == (500, 500)
    with envpool.make_python("CartPole-v1", 2) as pool:
        pool.set_attr("gravity", 3.0, **{word: [1]})
        assert pool.get_attr("gravity", **{word: [1]}) == (3.0,)


@pytest.mark.parametrize("make", [envpool.make_dm, envpool.make_gym, envpool.make_gymnasium])
def test_both_words_for_closed_pools(make):
    pool = make("CartPole-v1")
    assert pool.closed is pool.is_closed is False
    pool.close()
    assert pool.closed is pool.is_closed is True
    assert np.array_equal(pool.all_env_ids, [0])


def test_recv_takes_one_of_both_words():
    with envpool.make_gymnasium("CartPole-v1", num_envs=3) as pool:
        pool.async_reset()
        with pytest.raises(TypeError, match=r"recv\(\) takes env_id or env_ids, two names of one argument, not both"):
            pool.recv(env_id=[0], env_ids=[0])
        assert len(pool.recv(env_ids=[1])[0]) == 1
