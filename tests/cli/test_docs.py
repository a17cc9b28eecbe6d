"""``envpool docs`` prints the pages, and every page that a message of the package names exists."""

import re
from pathlib import Path

import pytest

import envpool
from envpool.cli.docs import contents, pages, sections, text_of
from envpool.cli.main import main
from envpool.cli.option_tables import with_commands

PACKAGE = Path(envpool.__file__).parent
PAGE = re.compile(r"(?:docs/(\w+)\.md|`?envpool docs (\w+))(?:#([\w-]*\w))?")


def test_lists_the_pages_of_the_index(capsys):
    assert main(["docs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {line.split()[0] for line in lines[1:]} == set(contents())
    assert set(contents()) == set(pages()) - {"index"}
    assert not any("](" in line for line in lines)


@pytest.mark.parametrize("name", ["players", "players.md", "docs/players.md"])
def test_prints_a_page(name, capsys):
    assert main(["docs", name]) == 0
    assert capsys.readouterr().out == pages()["players"].read_text().rstrip() + "\n"


def test_prints_a_section_with_those_below_it(capsys):
    assert main(["docs", "docs/api.md#auto-reset"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("## Auto-reset\n") and "\n## " not in printed and printed.count("\n") > 3


def test_sections_end_at_headings_of_their_level_outside_of_code():
    text = "# A page\nx\n## One `f()`, two\n```\n# no heading\n```\n### Below\ny\n## [Three](b.md)\nz"
    assert sections(text) == {
        "a-page": text,
        "one-f-two": "## One `f()`, two\n```\n# no heading\n```\n### Below\ny\n",
        "below": "### Below\ny\n",
        "three": "## [Three](b.md)\nz",
    }


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("player", "there is no page 'player'; did you mean players or replay?"),
        ("zzz", "there is no page 'zzz'; `envpool docs` lists all"),
        ("players#turn", "the page players has no section 'turn'; it has turns"),
    ],
)
def test_mistakes(page, text, capsys):
    assert main(["docs", page]) == 2
    assert text in capsys.readouterr().err


def test_every_page_that_the_package_names_exists():
    named = set()
    for file in (file for suffix in ("py", "pyx", "pxd", "h", "cpp") for file in PACKAGE.rglob(f"*.{suffix}")):
        if file != PACKAGE / "cli" / "docs.py":
            named |= {(file, one or other, section) for one, other, section in PAGE.findall(file.read_text())}
    assert ("players", "turns") in {(page, section) for _, page, section in named}
    for _, page, section in named:
        assert text_of(page, section), (page, section)


def test_names_of_pages_become_commands():
    assert with_commands("docs/players.md#turns, docs/api.md.") == "`envpool docs players#turns`, `envpool docs api`."
