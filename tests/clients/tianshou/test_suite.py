"""Tianshou's own tests of its vector environments, run on `envpool.adapters.tianshou`.

Tianshou ships tests up to version 0.5.1. They run here with Tianshou 2; `BY_VERSION` fail with its own classes, too.
"""

from tests.clients.suite import run_suite, sdist

BY_VERSION = {
    "test_async_env": "Tianshou 2 does not concatenate batches whose infos have different keys",
    "test_attr_unwrapped": "a wrapper of gymnasium 1 does not have the attributes of its environment",
    "test_venv_wrapper_gym": "in Tianshou 2, infos are an array",
}
LEFT_OUT = {
    "base/test_env.py::test_async_check_id": "it depends on timing; test_vector_env.py and test_venvs.py test the ids "
    "that async calls return",
}


def test_vector_environments(tmp_path):
    run_suite(
        tmp_path,
        sdist("tianshou==0.5.1", "867366170a2e67a2c706459fa7d5d3ed80911944e0b3fac41d5cbb3695f58b4d"),
        "test",
        ["base/test_env.py"],
        "tests.clients.tianshou.stand_ins",
        deviations=BY_VERSION,
        left_out=LEFT_OUT,
    )
