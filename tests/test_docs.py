"""The pages are true: their Python code runs, their links work, and their tables are complete."""

import re
import runpy
from pathlib import Path

import pytest

import envpool
from envpool import errors
from envpool.spec import COMMON_OPTIONS

ROOT = Path(__file__).parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
README = (ROOT / "README.md").read_text()
#: The script that writes the generated parts of pages.
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "readme.py"))


def python_blocks():
    for page in PAGES:
        text = page.read_text()
        for match in re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            line = text[: match.start()].count("\n") + 2
            yield pytest.param(page, line, match[1], id=f"{page.name}:{line}")


def rows(text, title):
    """Return the rows of the first table after a heading, as lists of cells."""
    table = text[text.index(title) :].partition("|")[2]
    lines = re.match(r"(?:.*\|\n)+", table)[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


@pytest.mark.parametrize(("page", "line", "code"), list(python_blocks()))
def test_python_code_runs(page, line, code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile("\n" * (line - 1) + code, page, "exec"), {"__name__": "__main__"})


def test_there_is_code_for_every_style():
    code = "".join(p.values[2] for p in python_blocks() if p.values[0].name == "README.md")
    for piece in ('env_type="gymnasium"', 'gym_api="legacy"', "make_dm", "async_reset"):
        assert piece in code


def anchors(page):
    """Return the anchors of the headings of a page, as forges and the site name them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    titles = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line) for line in re.findall(r"^#+ (.+)$", text, re.MULTILINE))
    return {re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)", page.read_text()):
        if not target.startswith("http"):
            linked = page.parent / target if target else page
            assert linked.exists(), target
            assert not anchor or anchor in anchors(linked), f"{target}#{anchor}"


def test_the_index_lists_every_page_once():
    """The index is the navigation of the site as well, see scripts/site_hooks.py."""
    index = (ROOT / "docs" / "index.md").read_text()
    listed = re.findall(r"^\| \[[^\]]+\]\(([^)]+)\) \| \S.* \|$", index, re.MULTILINE)
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md"}
    assert sorted(listed) == sorted(pages | {"../CONTRIBUTING.md", "../CHANGELOG.md"}), "add a row to docs/index.md"


def test_readme_has_every_common_option():
    listed = {name.strip("`"): default.strip("`") for name, default, *_ in rows(README, "## Options")}
    assert listed.keys() == COMMON_OPTIONS.keys()
    for name, default in listed.items():
        if name == "max_episode_steps":
            assert default == "per task"
        else:
            assert default.replace('"', "'") == repr(COMMON_OPTIONS[name]), name


@pytest.mark.parametrize("name", SCRIPT["PARTS"])
def test_generated_tables_are_up_to_date(name):
    text = (ROOT / name).read_text()
    render = SCRIPT["render"]
    assert render(name, text) == text, "run python scripts/readme.py"


def test_readme_lists_every_task_of_the_package():
    for name, task in envpool.registration.registry.tasks.items():
        if task.import_path.startswith("envpool."):
            assert f"`{name}`" in README


def test_api_page_has_every_exception():
    listed = {}
    for name, bases, _ in rows((ROOT / "docs" / "api.md").read_text(), "## Exceptions"):
        listed[name.strip("`")] = {base.strip("` ") for base in bases.split(",")} - {""}
    del listed["TypeError"]
    defined = {name: kind for name, kind in vars(errors).items() if isinstance(kind, type)}
    assert listed == {name: {base.__name__ for base in kind.__bases__} for name, kind in defined.items()}
