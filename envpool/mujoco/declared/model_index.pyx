"""Names and arrays of a compiled model, for the compiler of declarations."""

from libc.stdint cimport int64_t

from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.mujoco cimport mjModel

cdef extern from "model_arrays.h" nogil:
    Py_ssize_t ep_array(const mjModel* m, const char* name, int64_t* rows, int* columns)
    int64_t ep_count(const mjModel* m, const char* kind)
    const char* ep_name(const mjModel* m, const char* kind, int64_t id)
    int ep_object_type(const char* kind)

cdef extern from *:
    """
    static const int ep_joint_qpos[4] = {7, 4, 1, 1}, ep_joint_dofs[4] = {6, 3, 1, 1};
    static inline int ep_geom_body(const mjModel* m, int64_t geom) { return m->geom_bodyid[geom]; }
    static inline int ep_first_control(const mjModel* m, int64_t actuator) { return m->actuator_ctrladr[actuator]; }
    static inline int ep_body_mocap(const mjModel* m, int64_t body) { return m->body_mocapid[body]; }
    """
    const int* ep_joint_qpos        # numbers in qpos and qvel by mjtJoint
    const int* ep_joint_dofs
    int ep_geom_body(const mjModel* m, int64_t geom) nogil
    int ep_first_control(const mjModel* m, int64_t actuator) nogil
    int ep_body_mocap(const mjModel* m, int64_t body) nogil

FREE, BALL = 0, 1                   # mjtJoint


cdef class ModelIndex:
    """What a declaration can name in a model.

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
