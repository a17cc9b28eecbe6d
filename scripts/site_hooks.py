"""Hooks of MkDocs, which make a site of pages that are plain Markdown on a forge as well.

The navigation is read from docs/index.md: a heading is a section, and each row of its table is a page. Files outside
docs/ to which a page links become pages of the site, too, so that no link leaves it. Comments in docs/reference.md are
replaced by the docstrings of public names.
"""

import posixpath
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

from public_names import public_names, source  # noqa: E402

#: A relative link in Markdown: the target without its anchor.
LINK = re.compile(r"(?<=\]\()(?!\w+:)[^)#\s]+")

#: A link whose text is the name of a file: the text, and the target without its anchor.
NAMED_LINK = re.compile(r"(?<=\[)([\w./]+\.md)(?=\]\(([^)#\s]+))")

#: A heading of docs/index.md, or the title and the target of a row of its tables.
ROW = re.compile(r"^## (.+)$|^\| \[([^\]]+)\]\(([^)]+)\) \|", re.MULTILINE)

#: A comment in whose place the site has the docstrings of a module, or of a class or a function in a module.
DOCSTRINGS = re.compile(r"^<!-- docstrings ([\w.]+) -->$", re.MULTILINE)

#: The language of a source file for the highlighting of its page, by suffix.
LANGUAGES = {".py": "python", ".pyx": "cython", ".pxd": "cython", ".h": "c", ".c": "c"}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Set the navigation."""
    config.nav = navigation()
    return config


def navigation() -> list[dict[str, Any]]:
    """Return the navigation: sections with the titles and paths of their pages, after the index itself."""
    sections: dict[str, list[dict[str, str]]] = {}
    for heading, title, target in ROW.findall((ROOT / "docs" / "index.md").read_text()):
        if heading:
            pages = sections.setdefault(heading, [])
        else:
            pages.append({title: site_path(posixpath.normpath(f"docs/{target}"))})
    return [{"Home": "index.md"}, *({section: pages} for section, pages in sections.items() if pages)]


def titles() -> dict[str, str]:
    """Return the titles of the pages in the navigation, by their path."""
    return {
        path: title
        for section in navigation()[1:]
        for pages in section.values()
        for page in pages
        for title, path in page.items()
    }


def site_path(path: str) -> str:
    """Return the path in the site of a file of the repository."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return path.lower() if "/" not in path and path.endswith(".md") else f"source/{path}.md"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each file outside docs/ to which a page links."""
    for page in list(files.documentation_pages()):
        for path in linked(f"docs/{page.src_uri}", page.content_string):
            add(path, files, config)
    return files


def linked(path: str, text: str) -> Iterator[str]:
    """Yield the paths of the files in the repository to which a file of it links."""
    for match in LINK.finditer(text):
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), match[0]))
        if (ROOT / target).is_file():
            yield target


def add(path: str, files: Files, config: MkDocsConfig) -> None:
    """Add a page for a file outside docs/, unless there is one, and for the files to which it links."""
    name = site_path(path)
    if path.startswith("docs/") or files.get_file_from_path(name):
        return
    text = (ROOT / path).read_text()
    is_source = name.startswith("source/")
    content = f"# {path}\n\n````{LANGUAGES.get(Path(path).suffix, '')}\n{text}\n````\n" if is_source else text
    inclusion = InclusionLevel.INCLUDED if name in titles() else InclusionLevel.NOT_IN_NAV
    file = File.generated(config, name, content=content, inclusion=inclusion)
    file.repository_path = path
    files.append(file)
    if not is_source:
        for target in linked(path, text):
            add(target, files, config)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Make links to files of the repository links to pages of the site, named by their titles."""
    markdown = DOCSTRINGS.sub(directives, markdown)
    path = getattr(page.file, "repository_path", f"docs/{page.file.src_uri}")
    if page.file.src_uri.startswith("source/"):
        return markdown

    known = titles()

    def in_repository(target: str) -> str:
        return posixpath.normpath(posixpath.join(posixpath.dirname(path), target))

    def to_title(match: re.Match[str]) -> str:
        return known.get(site_path(in_repository(match[2])), match[1])

    def to_page(match: re.Match[str]) -> str:
        target = in_repository(match[0])
        if not (ROOT / target).is_file():
            return match[0]
        return posixpath.relpath(site_path(target), posixpath.dirname(page.file.src_uri) or ".")

    return LINK.sub(to_page, NAMED_LINK.sub(to_title, markdown))


def directives(match: re.Match[str]) -> str:
    """Return the lines that make mkdocstrings write the docstrings of a module's public names, or of one of them.

    EnvPool and Rollout are shown with the methods of their base classes, which are not public.
    """
    targets = public_names(match[1]) if source(match[1]) else [match[1]]
    inherit = "\n    options:\n      inherited_members: true"
    return "\n\n".join(
        f"::: {target}{inherit if target.endswith(('.EnvPool', '.Rollout')) else ''}" for target in targets
    )
