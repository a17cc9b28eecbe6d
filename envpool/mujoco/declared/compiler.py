"""The compiler: from a declaration and a model to the tables of a program.

The registers of the observation come first, so that a part of the observation is computed where it belongs.
Terminations are computed before rewards, and these before observations.
"""

from __future__ import annotations

import math

import numpy as np

from envpool._support.text import shown
from envpool.errors import ConfigError
from envpool.mujoco.declared import reset_compiler
from envpool.mujoco.declared.builder import Builder, Value
from envpool.mujoco.declared.code import Code, InstructionCode
from envpool.mujoco.declared.declaration import MAX_ARRAYS, Declaration
from envpool.mujoco.declared.expression_compiler import ExpressionCompiler
from envpool.mujoco.declared.lookup import find_object, many
from envpool.mujoco.declared.quantities import Computed
from envpool.mujoco.declared.tables import ModelIndex
from envpool.mujoco.declared.terms import Cost, Reward, Term

#: The bounds of actions of actuators without limits.
UNLIMITED = 1e10


class Compiler:
    """Compiles one declaration.

    Attributes
    ----------
    declaration : Declaration
        The declaration.
    builder : Builder
        The tables that are filled.
    code : Code
        The tables of the builder.
    expressions : ExpressionCompiler
        Compiles the expressions of the terms.
    """

    def __init__(self, declaration: Declaration, index: ModelIndex):
        self.declaration, self.index = declaration, index
        self.builder = Builder(index, is_suite=declaration.conventions == "dm_control")
        self.code = self.builder.code
        self.compile_action()
        self.expressions = self.expression_compiler(self.builder)

    def expression_compiler(self, builder: Builder, is_trial: bool = False) -> ExpressionCompiler:
        """Return a compiler of the expressions of the declaration, which needs the size of an action."""
        num_actions = self.code.action_range.shape[1]
        return ExpressionCompiler(builder, num_actions, self.declaration.function is not None, is_trial)

    def compile(self) -> Code:
        """Return the tables of the declaration."""
        self.compile_layout()
        self.compile_terminations()
        self.compile_rewards()
        self.compile_observations()
        self.compile_info()
        self.compile_function()
        self.compile_resets()
        for name, (_, is_set) in self.builder.goals.items():
            if not is_set:
                raise ConfigError(
                    f"Goal({shown(name)}) is never set; reset needs a term for it, for example "
                    f"Uniform(Goal({shown(name)}), -1, 1)"
                )
        self.code.num_constant = len(self.expressions.constants)
        self.code.instructions[:0] = self.expressions.constants
        return self.code

    def compile_action(self) -> None:
        """Compile what an action is."""
        self.builder.where, action = "action", self.declaration.action
        actuators = list(range(len(self.index.names("actuator"))))
        if action.of is not None:
            actuators = [find_object(self.builder, "actuator", name) for name in many(action.of)]
        pairs = [(actuator, control) for actuator in actuators for control in self.index.controls(actuator)]
        ranges = [self.bounds_of(actuator, control) for actuator, control in pairs]
        if action.of is not None:
            self.code.controls = [control for _, control in pairs]
            if len(set(pairs)) < len(pairs):
                raise self.builder.error(f"`of` must name an actuator only once, got {shown(action.of)}")
            if not pairs:
                raise self.builder.error("`of` must be None or name an actuator, got ()")
        if action.normalized:
            self.code.centers = [(low + high) / 2 for low, high in ranges]
            self.code.halves = [(high - low) / 2 for low, high in ranges]
            ranges = [(-1.0, 1.0)] * len(pairs)
        self.code.action_range = np.array(ranges).reshape(-1, 2).T

    def bounds_of(self, actuator: int, control: int) -> tuple[float, float]:
        """Return the lowest and the highest value of a control of an actuator."""
        normalized, ends = self.declaration.action.normalized, self.index.control_range(control)
        element = f'<actuator name="{self.index.names("actuator")[actuator]}">'
        if normalized and ends is None:
            raise self.builder.error(f"normalized=True needs the range of each control, but {element} has no ctrlrange")
        low, high = ends or (-UNLIMITED, UNLIMITED)
        if normalized and not (math.isfinite(low + high) and math.isfinite(high - low)):
            raise self.builder.error(
                f"normalized=True needs finite ranges of finite widths, but the ctrlrange of {element} is {low} {high}"
            )
        if math.isnan(low) or math.isnan(high):
            raise self.builder.error(f"the ctrlrange of {element} must not contain NaN, got {low} {high}")
        return low, high

    def compile_layout(self) -> None:
        """Reserve the registers of the observation, whose sizes a trial finds."""
        trial = Builder(self.index)
        sizes = self.expression_compiler(trial, is_trial=True)
        for key, terms in self.declaration.observation:
            values = []
            for term in terms:
                trial.where = f"observation {shown(term.name)}"
                values.append(sizes.value(term.value))
            size = sum(value.n for value in values)
            is_scalar = bool(key) and len(values) == 1 and values[0].is_scalar
            self.code.observations[f"obs:{key}" if key else "obs"] = () if is_scalar else (size,)
            self.code.observation_size += size
        self.builder.where = "observation"
        self.builder.registers(self.code.observation_size)

    def compile_terminations(self) -> None:
        """Compile the terminations, whose flags are adjacent registers."""
        terms = self.declaration.termination
        self.code.num_flags = len(terms)
        self.code.first_flag = self.builder.registers(len(terms))
        for k, term in enumerate(terms):
            self.builder.where = f"termination {shown(term.name)}"
            value = self.expressions.value(term.value)
            ends = self.builder.interval(term.low, term.high)
            self.code.instructions.append(
                InstructionCode("outside", 1, self.code.first_flag + k, value.first, count=value.n,
                                flag=term.closed, x=ends)
            )  # fmt: skip
        self.expressions.flags_are_known = True

    def compile_rewards(self) -> None:
        """Compile the rewards, and behind them the costs."""
        for kind in (Reward, Cost):
            for term in self.declaration.reward:
                if isinstance(term, kind):
                    self.builder.where = f"{kind.__name__.lower()} {shown(term.name)}"
                    value = self.scalar(term)
                    self.code.rewards.append((value.first, self.builder.number("weight", term.weight), -1))
            if kind is Reward:
                self.code.num_rewards = len(self.code.rewards)

    def scalar(self, term: Term) -> Value:
        """Return the value of a term that must be a scalar; a vector of one number counts as one."""
        value = self.expressions.value(term.value)
        if value.n != 1:
            raise self.builder.error(
                f"{shown(term.value)} must be one number, got {value.n} numbers: use Sum, Mean, Norm, Min or Max"
            )
        return value

    def compile_observations(self) -> None:
        """Compile the observation."""
        first = 0
        for _, terms in self.declaration.observation:
            for term in terms:
                self.builder.where = f"observation {shown(term.name)}"
                weight = self.builder.number("weight", term.weight)
                if isinstance(term.value, Computed) and weight == 1:
                    n = term.value.size or 1
                    self.code.outputs.append((term.value.name, first, n, term.value.size is None))
                    first += n
                    continue
                value = term.value if weight == 1 else term.value * weight
                self.expressions.compute_into(value, first)
                first += self.expressions.value(value).n

    def compile_info(self) -> None:
        """Compile the info arrays: the user's, and the values of the terms."""
        offset = 0
        for key, expression in self.declaration.info:
            self.builder.where = f"info {shown(key)}"
            value = self.expressions.value(expression)
            self.code.reports.append((value.first, value.n, offset))
            self.code.info[key] = offset if value.is_scalar else (offset, value.n)
            offset += value.n
        if self.declaration.terms:
            ordered = [t for kind in (Reward, Cost) for t in self.declaration.reward if isinstance(t, kind)]
            for k, term in enumerate((*ordered, *self.declaration.termination)):
                self.code.info[f"terms.{term.name}"] = offset + k
            self.code.rewards = [(first, w, offset + k) for k, (first, w, _) in enumerate(self.code.rewards)]
            self.code.flags_info = offset + len(ordered) if self.code.num_flags else -1
            if (count := len(self.code.observations) + len(self.code.info)) > MAX_ARRAYS:
                raise ConfigError(
                    f"observation, info and terms must have at most {MAX_ARRAYS} arrays together, got {count}: "
                    "terms=True adds one for each reward, cost and termination"
                )

    def compile_function(self) -> None:
        """Compile the arguments of the function."""
        if self.declaration.function is None:
            return
        self.code.total = self.builder.registers(1)
        for name, expression in self.declaration.function.inputs:
            self.builder.where = f"input {shown(name)} of the function"
            value = self.expressions.value(expression)
            self.code.inputs.append((name, value.first, value.n, value.is_scalar))

    def compile_resets(self) -> None:
        """Compile the resets."""
        for k, reset in enumerate(self.declaration.reset):
            self.builder.where = f"reset[{k}] ({type(reset).__name__})"
            self.code.resets.append(reset_compiler.emit(reset, self.builder))
        self.code.resets[:0] = reset_compiler.clear_goals(self.builder)


def compile_declaration(declaration: Declaration, index: ModelIndex) -> Code:
    """Return the tables of a declaration for a model, or raise a ConfigError that names the term."""
    return Compiler(declaration, index).compile()
