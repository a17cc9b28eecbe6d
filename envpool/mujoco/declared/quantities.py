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


class Qpos(Quantity, array="qpos", kind="joint", rows="joint_positions", writable=True):
    """Positions of joints (m, rad, quaternions)."""


class Qvel(Quantity, array="qvel", kind="joint", rows="joint_dofs", writable=True):
    """Velocities of joints (m/s, rad/s)."""


class Qacc(Quantity, array="qacc", kind="joint", rows="joint_dofs"):
    """Accelerations of joints."""


class QfrcActuator(Quantity, array="qfrc_actuator", kind="joint", rows="joint_dofs"):
    """Forces of the actuators on joints (N, N m)."""


class QfrcConstraint(Quantity, array="qfrc_constraint", kind="joint", rows="joint_dofs"):
    """Forces of contacts, limits and other constraints on joints (N, N m)."""


class Sensor(Quantity, array="sensordata", kind="sensor", rows="sensor_numbers"):
    """Measurements of sensors."""


class Ctrl(Quantity, array="ctrl", kind="actuator", rows="controls", writable=True):
    """Controls of the actuators. MuJoCo sets all to zero if one is not finite."""


class ActuatorForce(Quantity, array="actuator_force", kind="actuator", rows="forces"):
    """Forces of the actuators."""


class Activation(Quantity, array="act", writable=True):
    """Activations of the actuators that have one, by index."""


class TendonLength(Quantity, array="ten_length", kind="tendon"):
    """Lengths of tendons."""


class TendonVelocity(Quantity, array="ten_velocity", kind="tendon"):
    """Velocities of tendons."""


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


class BodyPosition(Table, array="xpos", kind="body", column_names=XYZ):
    """Positions of body frames (m): x, y, z."""


class BodyQuaternion(Table, array="xquat", kind="body", column_names=QUATERNION):
    """Orientations of body frames as quaternions: w, x, y, z."""


class BodyRotation(Table, array="xmat", kind="body", column_names=MATRIX):
    """Orientations of body frames as matrices: xx, xy, ... zz. The column "zz" is 1 for an upright body."""


class BodyCom(Table, array="xipos", kind="body", column_names=XYZ):
    """Centres of mass of bodies (m): x, y, z."""


class SubtreeCom(Table, array="subtree_com", kind="body", column_names=XYZ):
    """Centres of mass of bodies with all their descendants (m): x, y, z, also after body_mass has changed."""


class Cinert(Table, array="cinert", kind="body"):
    """Masses and inertias of bodies, 10 numbers each, in MuJoCo's frame of the centre of mass."""


class Cvel(Table, array="cvel", kind="body"):
    """Velocities of bodies, 6 numbers each (rotation, translation), in MuJoCo's frame of the centre of mass."""


class ContactForce(Table, array="cfrc_ext", kind="body"):
    """External forces on bodies (cfrc_ext), 6 numbers each (torque, force). They are zero after a reset."""


class GeomPosition(Table, array="geom_xpos", kind="geom", column_names=XYZ):
    """Positions of geoms (m): x, y, z."""


class GeomRotation(Table, array="geom_xmat", kind="geom", column_names=MATRIX):
    """Orientations of geoms as matrices: xx, xy, ... zz."""


class SitePosition(Table, array="site_xpos", kind="site", column_names=XYZ):
    """Positions of sites (m): x, y, z."""


class SiteRotation(Table, array="site_xmat", kind="site", column_names=MATRIX):
    """Orientations of sites as matrices: xx, xy, ... zz."""


class MocapPosition(Table, array="mocap_pos", kind="body", rows="mocap_rows", column_names=XYZ, writable=True):
    """Positions of mocap bodies (m): x, y, z."""


class MocapQuaternion(
    Table, array="mocap_quat", kind="body", rows="mocap_rows", column_names=QUATERNION, writable=True
):
    """Orientations of mocap bodies as quaternions: w, x, y, z."""


# ---- computed quantities ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ObjectVelocity(Expression):
    """Velocity of one object: rotation (rad/s) x, y, z and translation (m/s) x, y, z; the base class of its kinds.

    Attributes
    ----------
    of : str or int
        The object.
    local : bool
        If True, the axes are the object's instead of the world's.
    """

    of: Object
    local: bool = False
    kind: ClassVar[str]


class BodyVelocity(ObjectVelocity, kind="body"):
    """Velocity of a body at its centre of mass."""


class GeomVelocity(ObjectVelocity, kind="geom"):
    """Velocity of a geom."""


class SiteVelocity(ObjectVelocity, kind="site"):
    """Velocity of a site."""


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


class CenterOfMass(Measure, operation="center_of_mass", size=3):
    """Centre of mass of all bodies (m): x, y, z, NaN without a mass. Bodies are summed in the order of their ids."""


class Time(Measure, operation="time"):
    """MuJoCo's time (s): 0 when an episode begins, unless a `Keyframe` sets it."""


class StepTime(Measure, operation="duration"):
    """Duration of a step (s): the time step of the model times frame_skip."""


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
