"""MuJoCo's functions for the modules of the tasks, which must take them from here.

Only the modules of this package are linked with libmujoco. The module of a task is not, so that it can be loaded before
the library is found. Loading it imports this package, which reports a missing or different version of MuJoCo clearly.
"""

from envpool.mujoco.base.mujoco cimport mjData, mjModel, mjvCamera

cdef:
    void (*mj_resetData)(const mjModel* m, mjData* d) noexcept nogil
    void (*mj_forward)(const mjModel* m, mjData* d) noexcept nogil
    void (*mj_step)(const mjModel* m, mjData* d) noexcept nogil
    void (*mj_step1)(const mjModel* m, mjData* d) noexcept nogil
    void (*mj_step2)(const mjModel* m, mjData* d) noexcept nogil
    void (*mj_kinematics)(const mjModel* m, mjData* d) noexcept nogil
    void (*mj_comPos)(const mjModel* m, mjData* d) noexcept nogil
    void (*mj_collision)(const mjModel* m, mjData* d) noexcept nogil
    void (*mj_rnePostConstraint)(const mjModel* m, mjData* d) noexcept nogil
    void (*mj_objectVelocity)(const mjModel* m, const mjData* d, int objtype, int objid, double* res,
                              int flg_local) noexcept nogil
    void (*mj_jacSite)(const mjModel* m, const mjData* d, double* jacp, double* jacr, int site) noexcept nogil
    void (*mju_axisAngle2Quat)(double* res, const double* axis, double angle) noexcept nogil
    void (*mjv_defaultCamera)(mjvCamera* camera) noexcept nogil
    void (*mjv_defaultFreeCamera)(const mjModel* m, mjvCamera* camera) noexcept nogil
