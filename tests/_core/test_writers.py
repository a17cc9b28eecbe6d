"""Other threads write to the arrays of a call: it ends in a correct result or in a documented exception."""

import random

import pytest

from tests._core.writers import continuous, discrete, rollouts, states
from tests.support import plugin


@pytest.mark.parametrize("scenario", [discrete, continuous, states, rollouts])
@pytest.mark.parametrize("seed", range(2))
def test_arrays_that_other_threads_write_to(scenario, seed):
    plugin.load()
    scenario(random.Random(seed))
