"""The pages are true: their Python code runs, their links work, and their tables are complete."""

import importlib
import inspect
import re
import runpy
import tomllib
from types import ModuleType

import pytest

import envpool
from envpool import errors, native
from envpool.config.options import POOL_DEFAULTS
from envpool.tasks.entries import family_of
from tests.support.pages import CLIENTS, PAGES, ROOT, blocks, run

#: The scripts that write the generated parts of pages, and the diagrams.
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "pages.py"))
DIAGRAMS = runpy.run_path(str(ROOT / "scripts" / "diagrams.py"))

#: The function that says where the public names of a module are defined.
PUBLIC_NAMES = runpy.run_path(str(ROOT / "scripts" / "public_names.py"))["public_names"]


def rows(text, title):
    """Return the rows of the first table after a heading, as lists of cells."""
    table = text[text.index(title) :].partition("|")[2]
    lines = re.match(r"(?:.*\|\n)+", table)[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


@pytest.mark.parametrize("block", [pytest.param(b, id=f"{b[0].name}:{b[1]}") for b in blocks()])
def test_python_code_runs(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(*block)


def test_blocks_with_a_title_are_run_by_the_tests_of_a_client():
    text = "".join(page.read_text() for page in PAGES)
    starts = re.findall(r"^```python(.*)$", text, re.MULTILINE)
    assert {start for start in starts if start} == {f' title="{title}"' for title in CLIENTS}
    for client in CLIENTS.values():
        assert (ROOT / "tests" / "clients" / client / "test_pages.py").exists()


def test_there_is_code_for_every_style():
    code = "".join(code for page, _, code in blocks() if page.name == "start.md")
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


def test_the_page_of_options_has_every_common_option():
    page = (ROOT / "docs" / "options.md").read_text()
    listed = {name.strip("`"): default.strip("`") for name, default, *_ in rows(page, "# Options")}
    assert listed.keys() == POOL_DEFAULTS.keys()
    for name, default in listed.items():
        if name == "max_episode_steps":
            assert default == "per task"
        else:
            assert default.replace('"', "'") == repr(POOL_DEFAULTS[name]), name


def test_the_page_of_the_installation_has_every_extra():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"].keys()
    cells = [row[0] for row in rows((ROOT / "docs" / "install.md").read_text(), "| extra |")]
    assert set(re.findall(r"`(\w+)`", " ".join(cells))) == extras - {"demo", "test"}  # for scripts of the repository


@pytest.mark.parametrize("name", SCRIPT["pages"]())
def test_generated_tables_are_up_to_date(name):
    text = (ROOT / name).read_text()
    render = SCRIPT["render"]
    assert render(name, text) == text, "run python scripts/pages.py"


@pytest.mark.parametrize("name", DIAGRAMS["DIAGRAMS"])
def test_diagrams_are_up_to_date(name):
    drawn = DIAGRAMS["DIAGRAMS"][name]()
    assert (ROOT / "docs" / "img" / name).read_text() == drawn, "run python scripts/diagrams.py"


def test_every_task_is_in_one_table_of_tasks_and_one_of_options():
    """A new family needs a page with the comments of both tables, see docs/classic_control.md."""
    text = "".join(page.read_text() for page in PAGES)
    tables = re.findall(r"<!-- (tasks|options) ([\w.]+): begin", text)
    for name, task in envpool.registration.registry.tasks.items():
        if task.import_path.startswith("envpool."):
            folder = f"{family_of(task)}."
            found = [kind for kind, listed in tables if folder.startswith(f"{listed}.")]
            assert sorted(found) == ["options", "tasks"], f"{name} of {folder}"


def documented_attributes(cls):
    """Return the names that the docstrings of a class and its bases list, as in ``num_steps, max_steps : int``."""
    texts = [inspect.getdoc(base) or "" for base in cls.__mro__ if base.__module__.startswith("envpool")]
    listed = re.findall(r"^(\w+(?:, \w+)*) : ", "\n".join(texts), re.MULTILINE)
    return {name for names in listed for name in names.split(", ")}


@pytest.mark.parametrize("module", [envpool, envpool.rollout, native], ids=lambda module: module.__name__)
def test_every_public_attribute_of_a_public_class_is_documented(module):
    """Names without an underscore are for users, so that they have a docstring or an entry in that of their class."""
    generic = {cls.__doc__ for cls in (str, int, float, bool, tuple, list, dict, type(None), object)}
    for cls in filter(inspect.isclass, (getattr(module, name) for name in module.__all__)):
        documented = documented_attributes(cls)
        for name in dir(cls):
            doc = getattr(inspect.getattr_static(cls, name), "__doc__", None)
            has_doc = bool(doc) and doc not in generic and not doc.startswith("Alias for field")
            assert name.startswith("_") or name in documented or has_doc, f"{cls.__name__}.{name}"


def test_the_reference_has_the_docstrings_of_every_public_name():
    """The site parses the modules; the tables of the page list the names of the imported modules."""
    page = (ROOT / "docs" / "reference.md").read_text()
    for module in (envpool, envpool.rollout, native):
        places = PUBLIC_NAMES(module.__name__)
        assert f"<!-- docstrings {module.__name__} -->" in page
        public = {name for name in module.__all__ if not isinstance(getattr(module, name), ModuleType)}
        assert {place.rpartition(".")[2] for place in places} == public
        for place in places:
            path, _, name = place.rpartition(".")
            assert getattr(importlib.import_module(path), name) is getattr(module, name)
    own = {name for name, kind in vars(errors).items() if isinstance(kind, type) and kind.__module__ == errors.__name__}
    assert {place.rpartition(".")[2] for place in PUBLIC_NAMES(errors.__name__)} == own
