"""The catalogue of quantities: what expressions can read from a simulation.

Objects are named as in the XML file. ``of=None`` stands for all objects of the kind, a name for one object, a tuple of
names for several, in this order. One number of one object is a scalar, as in NumPy; everything else is a vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from envpool.mujoco.declared.expressions import Expression, Previous

Object = str | int
Objects = Object | tuple[Object, ...] | None
Columns = str | int | tuple[str | int, ...] | None

XYZ = ("x", "y", "z")
QUATERNION = ("w", "x", "y", "z")
MATRIX = tuple(row + column for row in XYZ for column in XYZ)


@dataclass(frozen=True)
class Quantity(Expression):
    """An array of MuJoCo's mjData; the base class of these quantities.

    Attributes
    ----------
    of : str, int, tuple or None
        The objects by name; an int is a row of the array. A joint or a sensor may have several rows.
    array : str
        Name of the array in mjData.
    kind : str or None
        Kind of the objects; None if the rows have no names.
    rows : str
        The method of ModelIndex that returns the rows of an object; empty if the id of an object is its row.
    column_names : tuple of str
        Names of the columns, if they have names.
    writable : bool
        True if a reset may set it.
    """

    of: Objects = None
    array: ClassVar[str]
    kind: ClassVar[str | None] = None
    rows: ClassVar[str] = ""
    column_names: ClassVar[tuple[str, ...]] = ()
    writable: ClassVar[bool] = False


class Qpos(Quantity):
    """Positions of joints (m, rad, quaternions)."""

    array, kind, rows, writable = "qpos", "joint", "joint_positions", True


class Qvel(Quantity):
    """Velocities of joints (m/s, rad/s)."""

    array, kind, rows, writable = "qvel", "joint", "joint_dofs", True


class Qacc(Quantity):
    """Accelerations of joints."""

    array, kind, rows = "qacc", "joint", "joint_dofs"


class QfrcActuator(Quantity):
    """Forces of the actuators on joints (N, N m)."""

    array, kind, rows = "qfrc_actuator", "joint", "joint_dofs"


class QfrcConstraint(Quantity):
    """Forces of contacts, limits and other constraints on joints (N, N m)."""

    array, kind, rows = "qfrc_constraint", "joint", "joint_dofs"


class Sensor(Quantity):
    """Measurements of sensors."""

    array, kind, rows = "sensordata", "sensor", "sensor_numbers"


class Ctrl(Quantity):
    """Controls of the actuators. MuJoCo sets all to zero if one is not finite."""

    array, kind, rows, writable = "ctrl", "actuator", "controls", True


class ActuatorForce(Quantity):
    """Forces of the actuators."""

    array, kind, rows = "actuator_force", "actuator", "forces"


class Activation(Quantity):
    """Activations of the actuators that have one, by index."""

    array, writable = "act", True


class TendonLength(Quantity):
    """Lengths of tendons."""

    array, kind = "ten_length", "tendon"


class TendonVelocity(Quantity):
    """Velocities of tendons."""

    array, kind = "ten_velocity", "tendon"


@dataclass(frozen=True)
class Table(Quantity):
    """An array of mjData with several columns; the base class of these quantities.

    Attributes
    ----------
    columns : str, int, tuple or None
        The columns by name or index; None for all.
    skip : int
        Number of leading objects that are left out. Body 0 is the world.
    """

    columns: Columns = None
    skip: int = 0


class BodyPosition(Table):
    """Positions of body frames (m): x, y, z."""

    array, kind, column_names = "xpos", "body", XYZ


class BodyQuaternion(Table):
    """Orientations of body frames as quaternions: w, x, y, z."""

    array, kind, column_names = "xquat", "body", QUATERNION


class BodyRotation(Table):
    """Orientations of body frames as matrices: xx, xy, ... zz. The column "zz" is 1 for an upright body."""

    array, kind, column_names = "xmat", "body", MATRIX


class BodyCom(Table):
    """Centres of mass of bodies (m): x, y, z."""

    array, kind, column_names = "xipos", "body", XYZ


class SubtreeCom(Table):
    """Centres of mass of bodies with all their descendants (m): x, y, z, also after body_mass has changed."""

    array, kind, column_names = "subtree_com", "body", XYZ


class Cinert(Table):
    """Masses and inertias of bodies, 10 numbers each, in MuJoCo's frame of the centre of mass."""

    array, kind = "cinert", "body"


class Cvel(Table):
    """Velocities of bodies, 6 numbers each (rotation, translation), in MuJoCo's frame of the centre of mass."""

    array, kind = "cvel", "body"


class ContactForce(Table):
    """External forces on bodies (cfrc_ext), 6 numbers each (torque, force). They are zero after a reset."""

    array, kind = "cfrc_ext", "body"


class GeomPosition(Table):
    """Positions of geoms (m): x, y, z."""

    array, kind, column_names = "geom_xpos", "geom", XYZ


class GeomRotation(Table):
    """Orientations of geoms as matrices: xx, xy, ... zz."""

    array, kind, column_names = "geom_xmat", "geom", MATRIX


class SitePosition(Table):
    """Positions of sites (m): x, y, z."""

    array, kind, column_names = "site_xpos", "site", XYZ


class SiteRotation(Table):
    """Orientations of sites as matrices: xx, xy, ... zz."""

    array, kind, column_names = "site_xmat", "site", MATRIX


class MocapPosition(Table):
    """Positions of mocap bodies (m): x, y, z."""

    array, kind, rows, column_names, writable = "mocap_pos", "body", "mocap_rows", XYZ, True


class MocapQuaternion(Table):
    """Orientations of mocap bodies as quaternions: w, x, y, z."""

    array, kind, rows, column_names, writable = "mocap_quat", "body", "mocap_rows", QUATERNION, True


# ---- computed quantities ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ObjectVelocity(Expression):
    """Velocity of one object: rotation (rad/s) x, y, z and translation (m/s) x, y, z; the base class of its kinds.

    Attributes
    ----------
    of : str or int
        The object.
    local : bool
        If True, the axes are those of the object instead of the world's.
    """

    of: Object
    local: bool = False
    kind: ClassVar[str]


class BodyVelocity(ObjectVelocity):
    """Velocity of a body at its centre of mass."""

    kind = "body"


class GeomVelocity(ObjectVelocity):
    """Velocity of a geom."""

    kind = "geom"


class SiteVelocity(ObjectVelocity):
    """Velocity of a site."""

    kind = "site"


@dataclass(frozen=True)
class Contacts(Expression):
    """Number of contacts between two groups of geoms.

    Attributes
    ----------
    of, other : str, int, tuple or None
        Names of geoms; the name of a body stands for its geoms. None stands for all geoms.
    """

    of: Objects = None
    other: Objects = None


@dataclass(frozen=True)
class Measure(Expression):
    """A value that an operation without operands computes; the base class of these quantities.

    Attributes
    ----------
    operation : str
        The operation, a key of ``program.OPS``.
    size : int or None
        Number of its numbers; None for a scalar.
    """

    operation: ClassVar[str]
    size: ClassVar[int | None] = None


class CenterOfMass(Measure):
    """Centre of mass of all bodies (m): x, y, z, NaN without a mass. Bodies are summed in the order of their ids."""

    operation, size = "center_of_mass", 3


class Time(Measure):
    """MuJoCo's time (s): 0 when an episode begins, unless a `Keyframe` sets it."""

    operation = "time"


class StepTime(Measure):
    """Duration of a step (s): the time step of the model times frame_skip."""

    operation = "duration"


@dataclass(frozen=True)
class Action(Expression):
    """The action of this step as it was given; zero after a reset. ``Previous(Action())`` is the previous action."""


@dataclass(frozen=True)
class Goal(Expression):
    """Numbers that a reset samples under a name and that stay until the next reset.

    Attributes
    ----------
    name : str
        Name of the goal.
    size : int or None
        Number of its numbers; None for a scalar.
    """

    name: str
    size: int | None = None


@dataclass(frozen=True)
class Computed(Expression):
    """A named result of the function of `BatchFunction`. It can only be a whole term of the observation.

    Attributes
    ----------
    name : str
        Name of the result.
    size : int or None
        Number of its numbers; None for a scalar.
    """

    name: str
    size: int | None = None


@dataclass(frozen=True)
class JointMargin(Expression):
    """Distance of limited slide and hinge joints from the nearest end of their range; negative outside of it."""

    of: Objects = None


@dataclass(frozen=True)
class Alive(Expression):
    """1 if no termination holds in this step, otherwise 0."""


def rate(value: Expression) -> Expression:
    """Return how fast a value changes: its change in the step divided by the duration of the step."""
    return (value - Previous(value)) / StepTime()
