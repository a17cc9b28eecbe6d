"""The descriptions of a task's own options, which the section "Options" of its environment's docstring has."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator


def option_texts(env: type) -> dict[str, str]:
    """Return the description of each option of an environment by name, each in one line.

    Parameters
    ----------
    env : type
        The environment's class. Its docstring and those of its base classes may have a section "Options" in the format
        of numpydoc; the entry of a class replaces that of its base.
    """
    texts: dict[str, str] = {}
    for cls in reversed(env.__mro__):
        texts |= dict(entries(inspect.cleandoc(vars(cls).get("__doc__") or "")))
    return texts


def entries(doc: str) -> Iterator[tuple[str, str]]:
    """Yield the names and descriptions in the section "Options" of a docstring.

    The descriptions look like the texts of `envpool.config.options`: they begin with a lower-case letter and have no
    full stop at the end.
    """
    section = re.search(r"^Options\n-+\n(.*?)(?=^\S[^\n]*\n-+$|\Z)", doc, re.MULTILINE | re.DOTALL)
    if section is None:
        return
    for entry in re.finditer(r"^(\S[^\n]*?) : [^\n]*\n((?:[ ]+[^\n]*\n?|\n)*)", section[1], re.MULTILINE):
        text = " ".join(entry[2].split()).replace("``", "`").removesuffix(".")
        if not text[1:2].isupper():  # keep abbreviations
            text = text[:1].lower() + text[1:]
        for name in entry[1].split(", "):
            yield name, text
