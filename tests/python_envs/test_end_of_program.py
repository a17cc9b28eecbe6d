"""The end of a program that has not closed its pools: all objects of its modules are destroyed, as without a pool."""

import pytest

from tests.support.python import output_of

#: A module whose file has text that is not flushed until the file is destroyed, and a cycle of the module, a class of
#: it, and a pool of this class.
PROGRAM = """
import gymnasium
import numpy as np
import envpool

log = open({path!r}, "w")

class Note:
    pass

class Noted(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(0, 1, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        return np.zeros(2, np.float32), {{"note": Note()}}

    def step(self, action):
        if action:
            raise ValueError("on purpose")
        return np.zeros(2, np.float32), 0.0, False, False, {{"note": Note()}}

{code}
log.write("everything")
"""


@pytest.mark.parametrize(
    "code",
    [
        "pool = envpool.make_python(Noted, 2)\npool.reset()",
        "pool = envpool.make_python(Noted, 2, workers='thread')\npool.reset()",
        "pool = envpool.make_python(Noted, 2, workers='process')\npool.reset()",
        "pool = envpool.make_python(Noted, 2, autoreset_mode='same_step')\npool.reset()\npool.step([0, 0])",
        "pool = envpool.make_python(Noted, 2)\npool.reset()\npool.close()",
        "pool = envpool.make_python(Noted, 2)\npool.reset()\npool.send([1, 0])",
        "envs = envpool.make_vec([Noted, Noted])\nenvs.reset()",
    ],
    ids=["inline", "thread", "process", "same_step", "closed", "failed", "VectorEnv"],
)
def test_files_are_flushed(tmp_path, code):
    path = tmp_path / "log"
    assert output_of(PROGRAM.format(path=str(path), code=code)) == ""
    assert path.read_text() == "everything"
