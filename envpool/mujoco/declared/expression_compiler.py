"""The compiler of expressions: from what a term computes to instructions. `emit` has a function for each kind."""

from __future__ import annotations

import math
from functools import singledispatch
from typing import Any

from envpool._support.text import shown
from envpool.mujoco.declared.builder import Builder, Value
from envpool.mujoco.declared.code import InstructionCode
from envpool.mujoco.declared.expressions import (
    SIGMOIDS,
    Arithmetic,
    Clip,
    Constant,
    Expression,
    Function,
    Item,
    Previous,
    Reduction,
    Tolerance,
    scale_of,
)
from envpool.mujoco.declared.lookup import find_object, limited_joints, places_of, range_of, sides_of
from envpool.mujoco.declared.native import Native, load_term
from envpool.mujoco.declared.quantities import (
    Action,
    Alive,
    Computed,
    Contacts,
    Goal,
    JointMargin,
    Measure,
    ObjectVelocity,
    Qpos,
    Quantity,
)


class ExpressionCompiler:
    """Compiles expressions; one that occurs several times is computed once.

    Attributes
    ----------
    builder : Builder
        The tables that are filled.
    num_actions : int
        Numbers of an action.
    has_function : bool
        If True, the declaration has a function, whose results `Computed` names.
    is_trial : bool
        If True, only the sizes of values are wanted, so that `Computed` and `Alive` are allowed.
    flags_are_known : bool
        If True, all terminations have been compiled, on which `Alive` depends.
    constants : list of InstructionCode
        The instructions that run once, before all others.
    values : dict
        The values of the expressions that have been compiled, by the result of `key`.
    keys : dict
        By the id of an expression: the expression, which keeps its id, and its key.
    forms : dict
        The keys of expressions by their class and the keys of their fields.
    """

    def __init__(self, builder: Builder, num_actions: int, has_function: bool, is_trial: bool = False):
        self.builder = builder
        self.num_actions = num_actions
        self.has_function = has_function
        self.is_trial = is_trial
        self.flags_are_known = is_trial
        self.constants: list[InstructionCode] = []
        self.values: dict[Any, Value] = {}
        self.keys: dict[int, tuple[Expression, int]] = {}
        self.forms: dict[tuple[Any, ...], int] = {}

    def value(self, expression: Expression) -> Value:
        """Return the value of an expression, whose instructions are added unless they are there already."""
        if not isinstance(expression, Expression):
            raise self.builder.error(f"expected an expression, got {shown(expression)}")
        if not self.is_known(expression):
            # Calling emit() itself would take one more frame of the stack for each level of nesting.
            self.values[self.key(expression)] = emit.dispatch(type(expression))(expression, self)
        return self.values[self.key(expression)]

    def is_known(self, expression: Expression) -> bool:
        """Return whether the instructions of an expression have been added."""
        return self.key(expression) in self.values

    def key(self, part: Any) -> Any:
        """Return a value that equals that of another part of an expression if both are computed alike.

        Unlike the parts themselves, keys differ for 0.0 and -0.0, and for 0 and False.
        """
        if isinstance(part, tuple):
            return tuple(map(self.key, part))
        if not isinstance(part, Expression):
            return repr(part)
        if id(part) not in self.keys:
            form = (type(part), *map(self.key, vars(part).values()))
            self.keys[id(part)] = part, self.forms.setdefault(form, len(self.forms))
        return self.keys[id(part)][1]

    def compute_into(self, expression: Expression, first: int) -> None:
        """Compute an expression into given registers."""
        instructions = self.builder.code.instructions
        is_view = isinstance(expression, Item) and not isinstance(expression.value, Quantity)
        is_new, before = not self.is_known(expression) and not is_view, len(instructions)
        value = self.value(expression)
        last = instructions[-1] if len(instructions) > before else None
        if is_new and last is not None and (last.out, last.n) == (value.first, value.n):
            last.out = first
            self.values[self.key(expression)] = Value(first, value.n, value.is_scalar)
        else:
            instructions.append(InstructionCode("copy", value.n, first, a=value.first))

    # ---- instructions ------------------------------------------------------------------------------------------------

    def add(self, op: str, n: int, is_scalar: bool, **fields: Any) -> Value:
        """Add an instruction whose result has n numbers; return the result."""
        made = InstructionCode(op, n, self.builder.registers(n), **fields)
        (self.constants if op == "constant" else self.builder.code.instructions).append(made)
        return Value(made.out, n, is_scalar)

    def unary(self, op: str, value: Value, **fields: Any) -> Value:
        """Add an operation on each number of a value."""
        if op == "square":
            fields["flag"] = value.is_scalar
        return self.add(op, value.n, value.is_scalar, a=value.first, **fields)

    def binary(self, op: str, left: Value, right: Value) -> Value:
        """Add an operation on two values."""
        if left.n != right.n and not left.is_scalar and not right.is_scalar:
            raise self.builder.error(
                f"the operands of {shown(op)} must have equally many numbers, got {left.n} and {right.n} numbers"
            )
        n = right.n if left.is_scalar else left.n
        steps = {"step_a": int(not left.is_scalar), "step_b": int(not right.is_scalar)}
        return self.add(op, n, left.is_scalar and right.is_scalar, a=left.first, b=right.first, **steps)

    def load(self, quantity: Quantity, member: int, places: list[int], is_scalar: bool) -> Value:
        """Add the instruction that reads numbers of an array of mjData."""
        self.builder.code.reads_contact_forces |= quantity.array == "cfrc_ext"
        n, first = len(places), places[0]
        if places == list(range(first, first + n)):
            return self.add("load", n, is_scalar, a=first, member=member)
        return self.add("gather", n, is_scalar, a=self.builder.indices_at(places), member=member)

    def joined(self, values: list[Value]) -> int:
        """Return the first of new registers, to which values are copied one after another."""
        first = self.builder.registers(0)
        for value in values:
            made = InstructionCode("copy", value.n, self.builder.registers(value.n), a=value.first)
            self.builder.code.instructions.append(made)
        return first


@singledispatch
def emit(expression: Expression, c: ExpressionCompiler) -> Value:
    """Add the instructions that compute an expression, and return where its value is."""
    raise c.builder.error(f"{shown(expression)} must be an expression of the catalogue, see docs/own_mujoco.md")


# ---- expressions of other expressions --------------------------------------------------------------------------------


@emit.register
def emit_constant(constant: Constant, c: ExpressionCompiler) -> Value:
    """Add a constant."""
    values = constant.value if isinstance(constant.value, tuple) else (constant.value,)
    if not values:
        raise c.builder.error("a constant must have at least one number, got none")
    if any(map(math.isnan, values)):
        raise c.builder.error(f"a constant must not contain NaN, got {shown(constant.value)}")
    is_scalar = not isinstance(constant.value, tuple)
    return c.add("constant", len(values), is_scalar, a=c.builder.constants_at(values))


@emit.register
def emit_item(item: Item, c: ExpressionCompiler) -> Value:
    """Return the value of a part of an expression. Of an array of mjData, only this part is read."""
    if isinstance(item.value, Quantity) and not c.is_known(item.value):
        member, places, _ = places_of(c.builder, item.value)
        chosen = range_of(c.builder, item, len(places))
        return c.load(item.value, member, places[chosen.start : chosen.stop], item.is_scalar)
    value = c.value(item.value)
    chosen = range_of(c.builder, item, value.n)
    return Value(value.first + chosen.start, len(chosen), item.is_scalar)


@emit.register
def emit_arithmetic(arithmetic: Arithmetic, c: ExpressionCompiler) -> Value:
    """Add an operation on two values."""
    return c.binary(arithmetic.operator, c.value(arithmetic.left), c.value(arithmetic.right))


@emit.register
def emit_function(function: Function, c: ExpressionCompiler) -> Value:
    """Add a function of each number."""
    return c.unary(function.operation, c.value(function.value))


@emit.register
def emit_reduction(reduction: Reduction, c: ExpressionCompiler) -> Value:
    """Add a function of all numbers."""
    value = c.value(reduction.value)
    return c.add(reduction.operation, 1, True, a=value.first, count=value.n)


@emit.register
def emit_clip(clip: Clip, c: ExpressionCompiler) -> Value:
    """Add the clipping of each number."""
    return c.unary("clip", c.value(clip.value), x=c.builder.interval(clip.low, clip.high))


@emit.register
def emit_previous(previous: Previous, c: ExpressionCompiler) -> Value:
    """Add the value of the step before, which is kept in registers of its own."""
    value = c.value(previous.value)
    return c.unary("previous", value, b=c.builder.registers(value.n))


@emit.register
def emit_tolerance(t: Tolerance, c: ExpressionCompiler) -> Value:
    """Add a tolerance; its constants are the ends of the interval, the margin, and the scale of the sigmoid."""
    value, b = c.value(t.value), c.builder
    if t.sigmoid not in SIGMOIDS:
        raise b.error(f"sigmoid must be one of {', '.join(map(repr, SIGMOIDS))}, got {shown(t.sigmoid)}")
    if not isinstance(t.bounds, tuple) or len(t.bounds) != 2:
        raise b.error(f"bounds must be a pair of numbers (lowest, highest), got {shown(t.bounds)}")
    low, high = b.interval(*t.bounds)
    margin, at_margin = b.non_negative("margin", t.margin), b.number("value_at_margin", t.value_at_margin)
    is_zero_allowed = t.sigmoid in ("linear", "quadratic")
    if not (0 < at_margin < 1 or (is_zero_allowed and at_margin == 0)):
        lowest = "at least 0" if is_zero_allowed else "more than 0"
        raise b.error(f"value_at_margin must be {lowest} and less than 1, got {at_margin}")
    constants = low, high, margin, scale_of(t.sigmoid, at_margin)
    return c.unary(t.sigmoid, value, x=constants, flag=value.is_scalar)


# ---- quantities ------------------------------------------------------------------------------------------------------


@emit.register
def emit_quantity(quantity: Quantity, c: ExpressionCompiler) -> Value:
    """Add the numbers of an array of mjData."""
    return c.load(quantity, *places_of(c.builder, quantity))


@emit.register
def emit_object_velocity(velocity: ObjectVelocity, c: ExpressionCompiler) -> Value:
    """Add the velocity of an object."""
    object_id, index = find_object(c.builder, velocity.kind, velocity.of), c.builder.index
    object_type = index.object_type(velocity.kind)
    return c.add("object_velocity", 6, False, a=object_id, count=object_type, flag=velocity.local)


@emit.register
def emit_contacts(contacts: Contacts, c: ExpressionCompiler) -> Value:
    """Add a number of contacts; the table of sides has a row for each geom."""
    of, other = (sides_of(c.builder, side) for side in (contacts.of, contacts.other))
    sides, first = c.builder.code.sides, len(c.builder.code.sides)
    sides.extend((geom in of) + 2 * (geom in other) for geom in range(len(c.builder.index.names("geom"))))
    return c.add("contacts", 1, True, a=first)


@emit.register
def emit_measure(measure: Measure, c: ExpressionCompiler) -> Value:
    """Add an operation without operands."""
    return c.add(measure.operation, measure.size or 1, measure.size is None)


@emit.register
def emit_action(action: Action, c: ExpressionCompiler) -> Value:
    """Add the action."""
    return c.add("action", c.num_actions, False)


@emit.register
def emit_goal(goal: Goal, c: ExpressionCompiler) -> Value:
    """Return the registers of a goal."""
    return c.builder.goal(goal)


@emit.register
def emit_computed(computed: Computed, c: ExpressionCompiler) -> Value:
    """Return registers of the size of a result of the function, in the trial that finds the observation's sizes."""
    if not c.has_function:
        raise c.builder.error(f"{shown(computed)} needs function=BatchFunction(...), which returns it")
    if not c.is_trial:
        raise c.builder.error(f"{shown(computed)} must be a whole term of the observation, with the weight 1")
    if not isinstance(computed.name, str) or computed.name in ("", "reward", "terminated"):
        raise c.builder.error(
            f"the name of {shown(computed)} must be a text other than '', 'reward' and 'terminated', got "
            f"{shown(computed.name)}"
        )
    size = c.builder.size(f"{shown(computed)}", computed.size)
    return Value(c.builder.registers(size), size, computed.size is None)


@emit.register
def emit_joint_margin(margin: JointMargin, c: ExpressionCompiler) -> Value:
    """Add the distances of joints from the nearest end of their ranges."""
    index, joints = c.builder.index, limited_joints(c.builder, margin.of)
    offset, _, _ = index.array("qpos")
    places = [index.joint_positions(joint)[0] for joint in joints]
    ranges = [index.joint_range(joint) for joint in joints]
    ends = [tuple(ends[k] for ends in ranges if ends is not None) for k in range(2)]
    positions = c.load(Qpos(), offset, places, False)
    above = c.binary("-", positions, c.value(Constant(ends[0])))
    below = c.binary("-", c.value(Constant(ends[1])), positions)
    return c.binary("minimum", above, below)


@emit.register
def emit_alive(alive: Alive, c: ExpressionCompiler) -> Value:
    """Add whether no termination holds."""
    if not c.flags_are_known:
        raise c.builder.error("Alive() cannot be used in a termination, since it depends on all terminations")
    return c.add("alive", 1, True, a=c.builder.code.first_flag, count=c.builder.code.num_flags)


@emit.register
def emit_native(native: Native, c: ExpressionCompiler) -> Value:
    """Add the call of a native term."""
    term = load_term(c.builder, native.term)
    values = [c.value(expression) for expression in native.inputs]
    n = sum(value.n for value in values)
    if n != term.num_inputs:
        raise c.builder.error(
            f"the native term {shown(native.term)} needs {term.num_inputs} numbers as inputs, got {n}"
        )
    first = values[0].first if len(values) == 1 else c.joined(values)
    c.builder.code.terms.append(term)
    b = len(c.builder.code.terms) - 1
    return c.add("native", term.size or 1, term.size is None, a=first, b=b, count=n)
