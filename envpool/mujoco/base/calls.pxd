"""MuJoCo's functions for tasks, which have to take them from here.

Only the modules of this package are linked with libmujoco. A task's module is not, so that it can be loaded before the
library is there, and then imports this package: that is where another version of MuJoCo is refused in plain words.
"""

from envpool.mujoco.base.mujoco cimport mjData, mjModel, mjvCamera

cdef void mj_resetData(const mjModel* m, mjData* d) noexcept nogil
cdef void mj_forward(const mjModel* m, mjData* d) noexcept nogil
cdef void mj_step(const mjModel* m, mjData* d) noexcept nogil
cdef void mj_step1(const mjModel* m, mjData* d) noexcept nogil
cdef void mj_step2(const mjModel* m, mjData* d) noexcept nogil
cdef void mj_kinematics(const mjModel* m, mjData* d) noexcept nogil
cdef void mj_comPos(const mjModel* m, mjData* d) noexcept nogil
cdef void mj_collision(const mjModel* m, mjData* d) noexcept nogil
cdef void mj_rnePostConstraint(const mjModel* m, mjData* d) noexcept nogil
cdef void mj_objectVelocity(const mjModel* m, const mjData* d, int objtype, int objid, double* res,
                            int flg_local) noexcept nogil
cdef void mju_axisAngle2Quat(double* res, const double* axis, double angle) noexcept nogil
cdef void mjv_defaultCamera(mjvCamera* camera) noexcept nogil
cdef void mjv_defaultFreeCamera(const mjModel* m, mjvCamera* camera) noexcept nogil
