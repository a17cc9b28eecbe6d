"""Checks the built site: every link leads to a file and an anchor of it, and no Markdown is left in the text.

    python scripts/site_check.py out/site

Links to other sites are not followed.
"""

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Document(HTMLParser):
    """The links, anchors and paragraphs of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.paragraphs: list[str] = []
        self.is_in_paragraph = False
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note the links and the anchor of an element."""
        values = dict(attributes)
        self.anchors.update(value for key in ("id", "name") if (value := values.get(key)))
        self.links += [value for key in ("href", "src") if (value := values.get(key))]
        if tag == "p":
            self.paragraphs.append("")
            self.is_in_paragraph = True

    def handle_endtag(self, tag: str) -> None:
        """Note the end of a paragraph."""
        self.is_in_paragraph &= tag != "p"

    def handle_data(self, data: str) -> None:
        """Add text to the paragraph."""
        if self.is_in_paragraph:
            self.paragraphs[-1] += data


def problems(site: Path) -> Iterator[str]:
    """Yield what is wrong in a site, one line each."""
    documents = {path: Document(path.read_text()) for path in sorted(site.rglob("*.html"))}
    if not documents:
        yield f"{site} has no pages"
    for path, document in documents.items():
        name = path.relative_to(site)
        for text in document.paragraphs:
            if re.search(r"^(- |\d+\. |\| |```)", text, re.MULTILINE):
                yield f"{name}: a list, table or code block needs an empty line before it: {text[:80]!r}"
        if name.name == "404.html":  # whose links are absolute
            continue
        for link in document.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                yield f"{name}: {link} does not exist"
            elif parts.fragment and target in documents and unquote(parts.fragment) not in documents[target].anchors:
                yield f"{name}: {link} names an anchor that does not exist"


if __name__ == "__main__":
    found = list(problems(Path(sys.argv[1]).resolve()))
    print("\n".join(found) or "every link of the site leads somewhere")
    sys.exit(bool(found))
