"""Records what upstream returns: ``python -m tests.golden.make [FAMILY ...]``, by default for all families.

It plays every case of the families with ``is_recorded``, which takes minutes, and writes
``tests/golden/<family>.json``.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from typing import Any

from tests.conformance.cases import table
from tests.golden.digests import FAMILIES, entry_of, path_of, write


def recorded_cases() -> dict[str, Any]:
    """Return the cases that are recorded, by the ids of their tests."""
    return {str(row.id): row.values[0] for row in table("EXACTNESS") if row.values[0].is_recorded}


def make(family: str) -> None:
    """Write the file of a family."""
    entries = {}
    for name, case in recorded_cases().items():
        if name.partition("-")[0] == family:
            print(name, flush=True)
            actions, _, expected = case.oracle.play(case)
            case.oracle.verify(case, expected)
            entries[name] = entry_of(case, actions, expected)
    write(family, entries)
    print(f"{path_of(family)}: {len(entries)} cases, {path_of(family).stat().st_size} bytes")


def main() -> None:
    """Write the files of the families that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden.make", description=__doc__)
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"some of {', '.join(FAMILIES)}")
    families = parser.parse_args().families
    if unknown := set(families) - set(FAMILIES):
        parser.error(f"FAMILY must be one of {', '.join(FAMILIES)}, got {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # some packages write into the working directory
        for family in families or FAMILIES:
            make(family)


if __name__ == "__main__":
    main()
