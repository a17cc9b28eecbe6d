"""The Python code and the commands in the pages, as the tests run them.

As a script, this file runs the code with the package that is installed; scripts/newcomer does so beside a copy of the
pages.
"""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]

#: Blocks that need a library have its name as their title; the tests of that client run them.
CLIENTS = {"Stable-Baselines3": "sb3", "PufferLib": "pufferlib", "torchrl": "torchrl"}


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


def commands(*starts: str) -> Iterator[tuple[Path, int, list[str]]]:
    """Yield the page, the line and the words of each command that starts with one of these words or paths.

    A command stands on an indented line, which a backslash continues, or between backquotes. In a notebook, an
    exclamation mark precedes it. The changelog, which shows the commands of its time, is left out.
    """
    start = "|".join(map(re.escape, starts))
    shown = re.compile(rf"^ {{4}}!?((?:{start})(?:[^\n]*\\\n)*[^\n]*)$|(?<!`)`!?((?:{start})[^`]*)`(?!`)", re.MULTILINE)
    for page in PAGES:
        if page.name != "CHANGELOG.md":
            text = re.sub(r"^```.*?^```$", lambda m: "\n" * m[0].count("\n"), page.read_text(), flags=re.M | re.S)
            for match in shown.finditer(text):
                command = (match[1] or match[2]).partition(" && ")[0].replace("\\\n", " ").replace("\n", " ")
                yield page, text[: match.start()].count("\n") + 1, shlex.split(command, comments=True)


if __name__ == "__main__":
    for block in blocks():
        print(f"{block[0].name}:{block[1]}", flush=True)
        run(*block)
