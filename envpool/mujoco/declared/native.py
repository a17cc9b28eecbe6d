"""Native terms: values that a C or Cython function of another module computes, see include/envpool/mujoco_term.h."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from importlib import import_module
from typing import TYPE_CHECKING

from envpool._support.text import shown
from envpool.mujoco.declared.code import InstructionCode
from envpool.mujoco.declared.expressions import Expression
from envpool.mujoco.declared.tables import NativeTerm

if TYPE_CHECKING:
    from envpool.mujoco.declared.compiler import Compiler, Value


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

    def emit(self, c: Compiler) -> Value:
        """See `Expression.emit`."""
        term = load_term(c, self.term)
        values = [c.value(expression) for expression in self.inputs]
        n = sum(value.n for value in values)
        if n != term.num_inputs:
            raise c.error(f"the native term {shown(self.term)} needs {term.num_inputs} numbers as inputs, got {n}")
        first = values[0].first if len(values) == 1 else joined(c, values)
        c.code.terms.append(term)
        return c.add("native", term.size or 1, term.size is None, a=first, b=len(c.code.terms) - 1, count=n)


def joined(c: Compiler, values: list[Value]) -> int:
    """Return the first of new registers, to which values are copied one after another."""
    first = c.registers(0)
    for value in values:
        c.code.instructions.append(InstructionCode("copy", value.n, c.registers(value.n), a=value.first))
    return first


def load_term(c: Compiler, reference: str) -> NativeTerm:
    """Return the native term of a reference, or raise a ConfigError that says what is wrong with it."""
    if not isinstance(reference, str) or not all(reference.partition(":")):
        raise c.error(f"the native term is {shown(reference)}, allowed are texts such as 'module:attribute'")
    module, _, attribute = reference.partition(":")
    try:
        found = import_module(module)
    except Exception as error:
        raise c.error(
            f"the module of the native term {shown(reference)} cannot be imported ({type(error).__name__}: {error}): "
            "install its package, or add its folder to sys.path"
        ) from error
    try:
        return NativeTerm(reduce(getattr, attribute.split("."), found))
    except AttributeError:
        raise c.error(
            f"the native term is {shown(reference)}, but the module {module} has no {shown(attribute)}"
        ) from None
    except ValueError as error:
        raise c.error(f"the native term {shown(reference)} cannot be used: {error}") from None
