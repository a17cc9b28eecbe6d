"""Upstream environments of Box2D with other constants, made of the source of gymnasium's modules."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any


def variant(module: ModuleType, constants: Mapping[str, Any], texts: Mapping[str, str] | None = None) -> ModuleType:
    """Return a copy of a module in which constants have other values.

    Parameters
    ----------
    module : module
        A module of gymnasium.
    constants : mapping of str to object
        Constants of the module and their values. Constants that are computed from them change as well.
    texts : mapping of str to str
        Pieces of the source, each of which must occur in it, and what replaces them.
    """
    source = inspect.getsource(module)
    for old, new in (texts or {}).items():
        assert old in source, f"{module.__name__} does not contain {old!r}"
        source = source.replace(old, new)
    lines = source.splitlines()
    missing = set(constants)
    for node in ast.parse(source).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(target, ast.Name) and target.id in constants:
            end = node.end_lineno or node.lineno
            lines[node.lineno - 1 : end] = [f"{target.id} = {constants[target.id]!r}"] + [""] * (end - node.lineno)
            missing.remove(target.id)
        elif isinstance(target, ast.Tuple):
            names = [name.id for name in target.elts if isinstance(name, ast.Name) and name.id in constants]
            lines[node.lineno - 1] += "".join(f"; {name} = {constants[name]!r}" for name in names)
            missing.difference_update(names)
    assert not missing, f"{module.__name__} has no constants {missing}"
    copy = ModuleType(f"{module.__name__}_variant")
    sys.modules[copy.__name__] = copy
    exec(compile("\n".join(lines), inspect.getfile(module), "exec"), copy.__dict__)
    return copy
