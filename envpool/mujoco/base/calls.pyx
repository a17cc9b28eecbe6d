"""MuJoCo's functions for tasks; calls.pxd says why."""

from envpool.mujoco.base cimport mujoco
from envpool.mujoco.base.mujoco cimport mjData, mjModel, mjvCamera


cdef void mj_resetData(const mjModel* m, mjData* d) noexcept nogil:
    mujoco.mj_resetData(m, d)


cdef void mj_forward(const mjModel* m, mjData* d) noexcept nogil:
    mujoco.mj_forward(m, d)


cdef void mj_step(const mjModel* m, mjData* d) noexcept nogil:
    mujoco.mj_step(m, d)


cdef void mj_step1(const mjModel* m, mjData* d) noexcept nogil:
    mujoco.mj_step1(m, d)


cdef void mj_step2(const mjModel* m, mjData* d) noexcept nogil:
    mujoco.mj_step2(m, d)


cdef void mj_kinematics(const mjModel* m, mjData* d) noexcept nogil:
    mujoco.mj_kinematics(m, d)


cdef void mj_comPos(const mjModel* m, mjData* d) noexcept nogil:
    mujoco.mj_comPos(m, d)


cdef void mj_collision(const mjModel* m, mjData* d) noexcept nogil:
    mujoco.mj_collision(m, d)


cdef void mj_rnePostConstraint(const mjModel* m, mjData* d) noexcept nogil:
    mujoco.mj_rnePostConstraint(m, d)


cdef void mj_objectVelocity(const mjModel* m, const mjData* d, int objtype, int objid, double* res,
                            int flg_local) noexcept nogil:
    mujoco.mj_objectVelocity(m, d, objtype, objid, res, flg_local)


cdef void mju_axisAngle2Quat(double* res, const double* axis, double angle) noexcept nogil:
    mujoco.mju_axisAngle2Quat(res, axis, angle)


cdef void mjv_defaultCamera(mjvCamera* camera) noexcept nogil:
    mujoco.mjv_defaultCamera(camera)


cdef void mjv_defaultFreeCamera(const mjModel* m, mjvCamera* camera) noexcept nogil:
    mujoco.mjv_defaultFreeCamera(m, camera)
