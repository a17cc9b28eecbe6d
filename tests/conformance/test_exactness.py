"""Pools return the bits of upstream environments: every task and option, every action mode, every way to run a pool.

``pytest tests/conformance -k toy_text`` runs the cases of one family; see `tests.conformance.cases` for the tables.
"""

from __future__ import annotations

import pytest

from tests.conformance.cases import ExactnessCase, table
from tests.golden import digests


@pytest.mark.parametrize("case", table("EXACTNESS"))
def test_pools_equal_upstream(case: ExactnessCase, request: pytest.FixtureRequest) -> None:
    if case.is_recorded:
        digests.check(case, request.node.callspec.id, with_upstream=request.config.getoption("--upstream"))
    else:
        case.oracle.check(case)
