"""The Python code in the pages, as the tests run it."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]

#: Blocks that need a library have its name as their title; the tests of that client run them.
CLIENTS = {"Stable-Baselines3": "sb3", "PufferLib": "pufferlib"}


def blocks(title: str | None = None) -> Iterator[tuple[Path, int, str]]:
    """Yield the page, the line and the code of each Python block with this title, or of each one without a title."""
    suffix = "" if title is None else f' title="{re.escape(title)}"'
    for page in PAGES:
        text = page.read_text()
        for match in re.finditer(rf"^```python{suffix}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            yield page, text[: match.start()].count("\n") + 2, match[1]


def run(page: Path, line: int, code: str) -> None:
    """Run a block; tracebacks show its lines in the page."""
    exec(compile("\n" * (line - 1) + code, page, "exec"), {"__name__": "__main__"})
