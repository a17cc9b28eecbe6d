"""An extension of Griffe, which reads the docstrings for the site: stubs get those of the Cython files beside them."""

import functools
import inspect
import re
from pathlib import Path
from typing import Any

import griffe

#: The first line of a class or function that Python sees: indentation, keyword, name.
HEAD = re.compile(r"( *)(?:cdef )?(class|def|cpdef [\w. ]*?) ?(\w+)(?=[(:])")


@functools.cache
def docstrings(file: Path) -> dict[str, tuple[int, str]]:
    """Return the line and the docstring of each class and function of a Cython file by its name."""
    lines = file.read_text().splitlines()
    found: dict[str, tuple[int, str]] = {}
    owner = ""
    for number, line in enumerate(lines):
        head = HEAD.match(line)
        if head is None:
            continue
        indent, kind, name = head.groups()
        if not indent:
            owner = f"{name}." if kind == "class" else ""
        end = next(k for k in range(number, len(lines)) if lines[k].partition("#")[0].rstrip().endswith(":"))
        first = lines[end + 1].strip() if end + 1 < len(lines) else ""
        if first.startswith('"""'):
            text = "\n".join(lines[end + 1 :]).partition('"""')[2].partition('"""')[0]
            found[owner + name if indent else name] = end + 2, inspect.cleandoc(text)
    return found


class PyxDocstrings(griffe.Extension):
    """Adds docstrings to the objects of stubs."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Add the docstring of the Cython file to an object of a stub that has none."""
        if obj.docstring or obj.is_module or not isinstance(obj.filepath, Path) or obj.filepath.suffix != ".pyi":
            return
        source = obj.filepath.with_suffix(".pyx")
        known = docstrings(source).get(obj.path.removeprefix(f"{obj.module.path}.")) if source.is_file() else None
        if known:
            line, text = known
            obj.docstring = griffe.Docstring(text, lineno=line, parent=obj, parser="numpy")
