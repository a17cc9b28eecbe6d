"""The compiler's side of C: what declarations can name in a model, and the tables that it makes of them."""

from libc.stdint cimport int32_t, int64_t, uint8_t

from cpython.bytes cimport PyBytes_AS_STRING
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid

import numpy as np

from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.mujoco cimport ep_first_control, ep_first_force, mjData, mjModel
from envpool.mujoco.declared.program cimport (
    ENVPOOL_MUJOCO_TERM_CAPSULE, ENVPOOL_MUJOCO_TERM_VERSION, Instruction, Program, Report, ResetRow, RewardTerm,
    envpool_mujoco_term,
)

from envpool.mujoco.base import MUJOCO_VERSION
from envpool.mujoco.declared.program import OPS

cdef extern from "mujoco/mujoco.h" nogil:
    const int mjVERSION_HEADER

cdef extern from "model_arrays.h" nogil:
    Py_ssize_t ep_array(const mjModel* m, const char* name, int64_t* rows, int* columns)
    int64_t ep_count(const mjModel* m, const char* kind)
    const char* ep_name(const mjModel* m, const char* kind, int64_t id)
    int ep_object_type(const char* kind)

cdef extern from *:
    """
    static const int ep_joint_qpos[4] = {7, 4, 1, 1}, ep_joint_dofs[4] = {6, 3, 1, 1};
    static inline int ep_geom_body(const mjModel* m, int64_t geom) { return m->geom_bodyid[geom]; }
    static inline int ep_body_mocap(const mjModel* m, int64_t body) { return m->body_mocapid[body]; }
    """
    const int* ep_joint_qpos        # numbers in qpos and qvel by mjtJoint
    const int* ep_joint_dofs
    int ep_geom_body(const mjModel* m, int64_t geom) nogil
    int ep_body_mocap(const mjModel* m, int64_t body) nogil

FREE, BALL = 0, 1                   # mjtJoint


cdef class ModelIndex:
    """Index of the names in a model that a declaration can use.

    Parameters
    ----------
    model : Model
        The compiled model.
    """

    def __init__(self, Model model not None):
        self.model = model

    @property
    def source(self):
        """Where the model comes from, for error texts."""
        return self.model.source

    def array(self, str name):
        """Return the offset of an array in mjData, its rows and its columns."""
        cdef int64_t rows
        cdef int columns
        offset = ep_array(self.model.m, name.encode(), &rows, &columns)
        if offset < 0:
            raise ValueError(name)
        return offset, rows, columns

    def names(self, str kind):
        """Return the names of all objects of a kind, in the order of their ids; unnamed ones have an empty name."""
        key = kind.encode()
        return [ep_name(self.model.m, key, i).decode() for i in range(ep_count(self.model.m, key))]

    def object_type(self, str kind):
        """Return MuJoCo's number of a kind of object."""
        return ep_object_type(kind.encode())

    def joint_positions(self, Py_ssize_t joint):
        """Return the indices in qpos of a joint."""
        first = self.model.m.jnt_qposadr[joint]
        return range(first, first + ep_joint_qpos[self.model.m.jnt_type[joint]])

    def joint_dofs(self, Py_ssize_t joint):
        """Return the indices in qvel of a joint."""
        first = self.model.m.jnt_dofadr[joint]
        return range(first, first + ep_joint_dofs[self.model.m.jnt_type[joint]])

    def joint_range(self, Py_ssize_t joint):
        """Return the limits of a slide or hinge joint; None if it has no limits, or if it is of another kind."""
        if not self.model.m.jnt_limited[joint] or self.model.m.jnt_type[joint] in (FREE, BALL):
            return None
        return self.model.m.jnt_range[2 * joint], self.model.m.jnt_range[2 * joint + 1]

    def sensor_numbers(self, Py_ssize_t sensor):
        """Return the indices in sensordata of a sensor."""
        first = self.model.m.sensor_adr[sensor]
        return range(first, first + self.model.m.sensor_dim[sensor])

    def controls(self, Py_ssize_t actuator):
        """Return the indices in ctrl of an actuator."""
        is_last = actuator + 1 == ep_count(self.model.m, b"actuator")
        end = self.model.m.nu if is_last else ep_first_control(self.model.m, actuator + 1)
        return range(ep_first_control(self.model.m, actuator), end)

    def forces(self, Py_ssize_t actuator):
        """Return the indices in actuator_force of an actuator."""
        is_last = actuator + 1 == ep_count(self.model.m, b"actuator")
        end = self.model.m.nout if is_last else ep_first_force(self.model.m, actuator + 1)
        return range(ep_first_force(self.model.m, actuator), end)

    def control_range(self, Py_ssize_t control):
        """Return the lowest and the highest value of a control; None if it is not limited."""
        if not self.model.m.actuator_ctrllimited[control]:
            return None
        return self.model.m.actuator_ctrlrange[2 * control], self.model.m.actuator_ctrlrange[2 * control + 1]

    def body_of_geom(self, Py_ssize_t geom):
        """Return the id of the body that a geom belongs to."""
        return ep_geom_body(self.model.m, geom)

    def mocap_rows(self, Py_ssize_t body):
        """Return the row of a mocap body among the mocap bodies; no row if the body is not one."""
        row = ep_body_mocap(self.model.m, body)
        return range(row, row + 1) if row >= 0 else range(0)


cdef class NativeTerm:
    """A native term of another module, see include/envpool/mujoco_term.h.

    Parameters
    ----------
    capsule : PyCapsule
        The term.

    Raises
    ------
    ValueError
        The object is not a native term, or it does not fit this version of envpool or MuJoCo.
    """

    def __init__(self, capsule):
        if not PyCapsule_IsValid(capsule, ENVPOOL_MUJOCO_TERM_CAPSULE):
            name = ENVPOOL_MUJOCO_TERM_CAPSULE.decode()
            raise ValueError(f"it must be a PyCapsule named {name!r}, got {capsule!r}")
        self.capsule = capsule
        self.term = <const envpool_mujoco_term*>PyCapsule_GetPointer(capsule, ENVPOOL_MUJOCO_TERM_CAPSULE)
        self.check_versions()
        if self.term.name == NULL or self.term.compute == NULL:
            raise ValueError("name and compute must not be NULL: set them with envpool_mujoco_term_init()")
        if self.term.size < 0 or self.term.num_inputs < 0:
            raise ValueError(
                f"size and num_inputs must be at least 0, got {self.term.size} and {self.term.num_inputs}"
            )

    cdef int check_versions(self) except -1:
        """Raises an error unless the structs of envpool and MuJoCo are those that the term was compiled with."""
        cdef const envpool_mujoco_term* term = self.term
        if term.version != ENVPOOL_MUJOCO_TERM_VERSION or term.struct_size < sizeof(envpool_mujoco_term):
            remedy = "upgrade envpool, or " if term.version > ENVPOOL_MUJOCO_TERM_VERSION else ""
            raise ValueError(
                f"it was compiled for version {term.version} of native terms ({term.struct_size} bytes), but this "
                f"envpool has version {ENVPOOL_MUJOCO_TERM_VERSION} ({sizeof(envpool_mujoco_term)} bytes): {remedy}"
                "compile it again with envpool.get_include()"
            )
        if term.mujoco_version != mjVERSION_HEADER:
            raise ValueError(
                f"it was compiled with headers of another MuJoCo (mjVERSION_HEADER is {term.mujoco_version}, that of "
                f"this envpool is {mjVERSION_HEADER}): compile it again with those of mujoco=={MUJOCO_VERSION}"
            )
        if term.model_size != sizeof(mjModel) or term.data_size != sizeof(mjData):
            raise ValueError(
                f"it was compiled with an mjModel of {term.model_size} and an mjData of {term.data_size} bytes, but "
                f"those of this envpool have {sizeof(mjModel)} and {sizeof(mjData)}: compile it again with the "
                f"unchanged headers of mujoco=={MUJOCO_VERSION}"
            )
        return 0

    @property
    def size(self):
        """Number of numbers of the value; None if it is a scalar."""
        return self.term.size or None

    @property
    def num_inputs(self):
        """Number of numbers that the term needs as inputs."""
        return self.term.num_inputs


cdef class Tables:
    """The tables of a program, as the compiler has made them.

    Parameters
    ----------
    code : envpool.mujoco.declared.compiler.Code
        The result of the compiler.
    """

    def __init__(self, code):
        cdef Program* p = &self.p
        cdef Instruction* i
        self.arrays = []
        p.num_instructions, p.num_constant = len(code.instructions), code.num_constant
        p.instructions = <Instruction*>self.new(sizeof(Instruction) * <size_t>p.num_instructions)
        for k, made in enumerate(code.instructions):
            i = &p.instructions[k]
            i.op, i.n, i.out, i.a, i.b = OPS[made.op], made.n, made.out, made.a, made.b
            i.step_a, i.step_b, i.count, i.flag, i.member = made.step_a, made.step_b, made.count, made.flag, made.member
            for j, x in enumerate(made.x):
                i.x[j] = x
        p.num_rewards, p.num_costs = code.num_rewards, len(code.rewards) - code.num_rewards
        p.rewards = <RewardTerm*>self.new(sizeof(RewardTerm) * <size_t>len(code.rewards))
        for k, (value, weight, info) in enumerate(code.rewards):
            p.rewards[k] = RewardTerm(value, weight, info)
        p.first_flag, p.num_flags, p.flags_info = code.first_flag, code.num_flags, code.flags_info
        p.num_reports = len(code.reports)
        p.reports = <Report*>self.new(sizeof(Report) * <size_t>p.num_reports)
        for k, (first, n, info) in enumerate(code.reports):
            p.reports[k] = Report(first, n, info)
        p.num_resets = len(code.resets)
        p.resets = <ResetRow*>self.new(sizeof(ResetRow) * <size_t>p.num_resets)
        for k, made in enumerate(code.resets):
            p.resets[k] = vars(made)
        p.indices = <int32_t*>self.keep(np.array(code.indices, np.int32))
        p.constants = <double*>self.keep(np.array(code.constants, np.float64))
        p.sides = <uint8_t*>self.keep(np.array(code.sides, np.uint8))
        p.terms = <const envpool_mujoco_term**>self.new(sizeof(void*) * <size_t>len(code.terms))
        for k, native in enumerate(code.terms):
            p.terms[k] = (<NativeTerm?>native).term
        self.terms = code.terms
        p.num_registers, p.observation_size = code.num_registers, code.observation_size
        if code.controls is not None:
            p.controls = <int32_t*>self.keep(np.array(code.controls, np.int32))
        if code.centers is not None:
            p.centers = <double*>self.keep(np.array(code.centers, np.float64))
            p.halves = <double*>self.keep(np.array(code.halves, np.float64))
        p.reads_contact_forces = code.reads_contact_forces
        p.total, p.is_suite = code.total, code.is_suite

    cdef char* new(self, size_t size) except NULL:
        """Returns memory that lives as long as the tables."""
        data = bytes(size if size > 8 else 8)       # bytes of length 1 are shared
        self.arrays.append(data)
        return PyBytes_AS_STRING(data)

    cdef char* keep(self, values) except NULL:
        """Returns the address of a copy of an array."""
        data = values.tobytes() or b"\0"
        self.arrays.append(data)
        return PyBytes_AS_STRING(data)
