"""The exceptions themselves; what raises them is tested with the modules that do."""

import copy
import pickle

import pytest

from envpool import errors

ARGUMENTS = {
    errors.EnvCreateError: ("Ant", 3, "no model"),
    errors.EnvStepError: ({1: "it broke"},),
    errors.EnvTimeoutError: ({0: 2.0}, 1.0, True),
    errors.RenderError: ({2: "no display"},),
}


@pytest.mark.parametrize("name", errors.__all__)
def test_exceptions_can_be_pickled_and_copied(name):
    cls = getattr(errors, name)
    error = cls(*ARGUMENTS.get(cls, ("a text",)))
    if isinstance(error, errors.EnvStepError):
        errors.advise(error, "reset() starts a new episode")
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(again) is type(error) and str(again) == str(error) and again.__dict__ == error.__dict__
