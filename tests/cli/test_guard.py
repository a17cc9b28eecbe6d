"""Errors of environments in the words of commands."""

import pytest

from envpool.cli.guard import guarded
from envpool.errors import EnvStepError, EnvTimeoutError, RenderError

CALLS = "Traceback (most recent call last):\n  File 'a.py', line 3, in f\n    g()\n"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (EnvTimeoutError({0: 2.0}, 1.0, False), "longer than step_timeout=1 seconds: env 0: for 2 s"),
        (EnvStepError({1: "the simulation is unstable"}), "1 env(s) failed: env 1: the simulation is unstable"),
        (RenderError({}, "no display"), "no display"),
        (RenderError({0: f"{CALLS}KeyError: 3"}), "1 env(s) could not be rendered: env 0: KeyError: 3, see above"),
        (
            EnvStepError({0: f"{CALLS}KeyError: 3\n\nDuring handling ...\n\n{CALLS}OSError"}),
            "failed: env 0: OSError, see above",
        ),
        (
            EnvStepError({0: f"{CALLS}[...]\n.py', line 3\n    g()\nOSError: no"}),
            "failed: env 0: OSError: no, see above",
        ),
    ],
)
def test_failures_of_environments(error, text, capsys):
    def fail():
        raise error

    assert guarded("envpool bench", fail) == 2
    *trace, line = capsys.readouterr().err.splitlines()
    assert line.startswith("envpool bench: error: ") and line.endswith(text)
    assert bool(trace) == text.endswith("see above")
