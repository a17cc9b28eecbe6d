"""Finds the public names of a module by parsing it, for the site, which is built without the package."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]


def source(module: str) -> Path | None:
    """Return the file of a module of the package; None if there is no such module."""
    path = ROOT / module.replace(".", "/")
    return next((file for file in (path / "__init__.py", path.with_suffix(".py")) if file.is_file()), None)


def public_names(module: str) -> list[str]:
    """Return where the public classes and functions of a module are defined.

    The module is parsed, not imported. Its public names are those of ``__all__``, or without it, its public classes; a
    name comes from an import, from the table ``_LAZY`` of modules by name, or from the module itself.
    """
    file = source(module)
    assert file is not None
    tree = ast.parse(file.read_text())
    found: dict[str, str] = {}
    names: list[str] | None = None
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            if isinstance(target, ast.Name) and target.id == "_LAZY":
                found |= {name: f"{path}.{name}" for name, path in ast.literal_eval(node.value).items()}
            elif isinstance(target, ast.Name) and target.id == "__all__":
                names = ast.literal_eval(node.value)
    if names is None:
        names = [node.name for node in tree.body if isinstance(node, ast.ClassDef) and node.name[0] != "_"]
    places = [found.get(name, f"{module}.{name}") for name in names]
    return [place for place in places if place.startswith("envpool.") and not source(place)]
