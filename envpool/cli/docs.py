"""Print a page of the documentation, or one section of it; without PAGE, list the pages.

Messages name pages as this command does: `envpool docs players#turns` prints the section "Turns" of docs/players.md.
"""

from __future__ import annotations

import argparse
import pydoc
import re
from pathlib import Path

from envpool._support.shipped import shipped
from envpool._support.text import similar_names
from envpool.cli.text import table, terminal_width
from envpool.errors import ConfigError

HELP = "print a page of the documentation"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``envpool docs``."""
    parser.add_argument("page", metavar="PAGE[#SECTION]", nargs="?", help="e.g. players or docs/players.md#turns")


def run(arguments: argparse.Namespace) -> None:
    """Print the page, through a pager if stdout is a terminal, or list all pages."""
    if arguments.page is None:
        print(table(("page", "content"), list(contents().items()), "ll", width=terminal_width()))
        return
    page, _, section = arguments.page.partition("#")
    pydoc.pager(text_of(page.removeprefix("docs/").removesuffix(".md"), section).rstrip() + "\n")


def pages() -> dict[str, Path]:
    """Return the files of the pages by name."""
    return {file.stem: file for file in sorted(shipped("docs").glob("*.md"))}


def contents() -> dict[str, str]:
    """Return what each page is about, in the order of the page ``index``."""
    rows = re.findall(r"(?m)^\| \[[^]]*\]\((\w+)\.md\) \| (.*) \|$", pages()["index"].read_text(encoding="utf-8"))
    return {page: re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", content).replace("`", "") for page, content in rows}


def text_of(page: str, section: str = "") -> str:
    """Return the Markdown of a page, or of the section that the anchor `section` of a link names."""
    known = pages()
    if page not in known:
        near = similar_names(page, list(known))
        hint = f"did you mean {' or '.join(near)}?" if near else "`envpool docs` lists all"
        raise ConfigError(f"there is no page {page!r}; {hint}")
    text = known[page].read_text(encoding="utf-8")
    if not section:
        return text
    found = sections(text)
    if section not in found:
        names = ", ".join(similar_names(section, list(found)) or found)
        raise ConfigError(f"the page {page} has no section {section!r}; it has {names}")
    return found[section]


def sections(text: str) -> dict[str, str]:
    """Return the sections of a page, each with those below it, by the anchors of their headings."""
    lines = text.splitlines(keepends=True)
    headings: list[tuple[int, int, str]] = []  # line, level, anchor
    is_code = False
    for number, line in enumerate(lines):
        is_code ^= line.startswith("```")
        if not is_code and (heading := re.match(r"(#+) (.*)", line)):
            words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading[2])
            anchor = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
            headings.append((number, len(heading[1]), anchor))
    found = {}
    for k, (number, level, anchor) in enumerate(headings):
        end = next((other for other, above, _ in headings[k + 1 :] if above <= level), len(lines))
        found[anchor] = "".join(lines[number:end])
    return found
