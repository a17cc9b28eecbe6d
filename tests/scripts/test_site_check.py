"""scripts/site_check.py finds what is wrong in a built site."""

import runpy
from pathlib import Path

import pytest

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "site_check.py"))

GOOD = '<p id="top">text</p><a href="#top"></a><a href="b/"></a><a href="b/index.html#end"></a><a href="https://x.y/z"></a>'


def problems_of(folder, page):
    (folder / "b").mkdir()
    (folder / "b" / "index.html").write_text('<h2 id="end">end</h2><img src="../a.png">')
    (folder / "a.png").touch()
    (folder / "index.html").write_text(page)
    return list(SCRIPT["problems"](folder))


def test_a_good_site_has_no_problems(tmp_path):
    assert problems_of(tmp_path, GOOD) == []


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        ('<a href="c/"></a>', "c/ does not exist"),
        ('<img src="b.png">', "b.png does not exist"),
        ('<a href="#bottom"></a>', "anchor"),
        ('<a href="b/#start"></a>', "anchor"),
        ("<p>a list:\n- one</p>", "empty line"),
        ("<p>a table:\n| one |</p>", "empty line"),
    ],
)
def test_problems_are_found(page, problem, tmp_path):
    (found,) = problems_of(tmp_path, GOOD + page)
    assert "index.html" in found and problem in found


def test_a_folder_without_pages_is_a_problem(tmp_path):
    assert list(SCRIPT["problems"](tmp_path))
