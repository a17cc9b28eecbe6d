"""The code for torchrl in the pages runs."""

import pytest

from tests.support.pages import blocks, run


@pytest.mark.parametrize("block", [pytest.param(b, id=f"{b[0].name}:{b[1]}") for b in blocks("torchrl")])
def test_python_code_runs(block):
    run(*block)
