"""The result of compiling a declaration: the rows of the tables that program.pxd describes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from envpool.mujoco.declared.tables import NativeTerm


@dataclass
class InstructionCode:
    """An instruction; `op` is a key of ``program.OPS``."""

    op: str
    n: int
    out: int
    a: int = 0
    b: int = 0
    step_a: int = 1
    step_b: int = 1
    count: int = 0
    flag: bool = False
    member: int = 0
    x: tuple[float, ...] = ()


@dataclass
class ResetCode:
    """A part of a reset."""

    op: int
    n: int
    targets: int = 0
    low: int = 0
    high: int = 0
    member: int = 0
    is_register: bool = False


@dataclass
class Code:
    """All tables of a program, and what the env definition needs besides."""

    instructions: list[InstructionCode] = field(default_factory=list)
    num_constant: int = 0
    rewards: list[tuple[int, float, int]] = field(default_factory=list)  # register, weight, index in info
    num_rewards: int = 0
    first_flag: int = 0
    num_flags: int = 0
    flags_info: int = -1
    reports: list[tuple[int, int, int]] = field(default_factory=list)  # register, numbers, index in info
    resets: list[ResetCode] = field(default_factory=list)
    indices: list[int] = field(default_factory=list)
    constants: list[float] = field(default_factory=list)
    terms: list[NativeTerm] = field(default_factory=list)
    sides: list[int] = field(default_factory=list)
    num_registers: int = 0
    observation_size: int = 0
    controls: list[int] | None = None
    centers: list[float] | None = None
    halves: list[float] | None = None
    reads_contact_forces: bool = False
    is_suite: bool = False
    total: int = 0
    inputs: list[tuple[str, int, int, bool]] = field(default_factory=list)  # name, register, numbers, is a scalar
    outputs: list[tuple[str, int, int, bool]] = field(default_factory=list)
    observations: dict[str, tuple[int, ...]] = field(default_factory=dict)  # field name -> shape
    info: dict[str, Any] = field(default_factory=dict)  # name -> index, or (index, size)
    action_range: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros((2, 0)))
