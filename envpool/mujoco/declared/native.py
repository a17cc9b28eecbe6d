"""Native terms: values that a C or Cython function of another module computes, see include/envpool/mujoco_term.h."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from importlib import import_module

from envpool._support.text import shown
from envpool.mujoco.declared.builder import Builder
from envpool.mujoco.declared.expressions import Expression
from envpool.mujoco.declared.tables import NativeTerm


@dataclass(frozen=True)
class Native(Expression):
    """A value that a native function outside the package computes; the function determines its size.

    Attributes
    ----------
    term : str
        ``"module:attribute"``: the module, which is imported when a pool is made, and the capsule in it.
    inputs : tuple of Expression
        Values that the function gets besides the model and the simulation, such as goals, the action or `Previous` of a
        value; their numbers are concatenated. A list or a single expression is accepted, too.
    """

    term: str
    inputs: tuple[Expression, ...] = ()


def load_term(b: Builder, reference: str) -> NativeTerm:
    """Return the native term of a reference, or raise a ConfigError that says what is wrong with it."""
    if not isinstance(reference, str) or not all(reference.partition(":")):
        raise b.error(f"the native term must be a text such as 'module:attribute', got {shown(reference)}")
    module, _, attribute = reference.partition(":")
    try:
        found = import_module(module)
    except Exception as error:
        raise b.error(
            f"the module of the native term {shown(reference)} cannot be imported ({type(error).__name__}: {error}): "
            "install its package, or add its folder to sys.path"
        ) from error
    try:
        return NativeTerm(reduce(getattr, attribute.split("."), found))
    except AttributeError:
        raise b.error(
            f"the native term is {shown(reference)}, but the module {module} has no {shown(attribute)}"
        ) from None
    except ValueError as error:
        raise b.error(f"the native term {shown(reference)} cannot be used: {error}") from None
