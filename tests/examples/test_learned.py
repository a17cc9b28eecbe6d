"""Evaluations of learned policies end, whatever the task."""

import numpy as np
import pytest

from tests.examples.load import load


def test_evaluation_of_episodes_that_do_not_end():
    evaluate = load("learned").evaluate
    with pytest.raises(RuntimeError, match=r"3 of 3 episodes of 'Pendulum-v1' .* max_steps=5 .* max_episode_steps=N"):
        evaluate(lambda obs: np.zeros((len(obs), 1), np.float32), "Pendulum-v1", 3, max_steps=5)
    returns = evaluate(
        lambda obs: np.zeros((len(obs), 1), np.float32), "Pendulum-v1", 3, max_steps=5, max_episode_steps=5
    )
    assert returns.shape == (3,) and (returns < 0).all()
