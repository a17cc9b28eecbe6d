"""The part of MuJoCo that this family uses, and the guard around its calls (guard.h)."""

from libc.stddef cimport size_t

cdef extern from "mujoco/mujoco.h" nogil:
    ctypedef struct mjVFS:
        pass

    ctypedef struct mjOption:
        double timestep
        int integrator
        int disableflags

    ctypedef struct mjModel:
        long nq
        long nv
        long nu
        long na
        long nbody
        long ngeom
        long nsite
        long ntendon
        long nsensordata
        mjOption opt
        double* qpos0
        double* body_mass
        double* actuator_ctrlrange

    ctypedef struct mjData:
        double time
        double* qpos
        double* qvel
        double* act
        double* ctrl
        double* xpos
        double* xmat
        double* xipos
        double* site_xpos
        double* cinert
        double* cvel
        double* ten_length
        double* ten_velocity
        double* sensordata
        double* qfrc_actuator
        double* qfrc_constraint
        double* cfrc_ext

    int mjOBJ_BODY
    int mjOBJ_JOINT
    int mjOBJ_GEOM
    int mjOBJ_SITE
    int mjOBJ_TENDON
    int mjOBJ_SENSOR

    void mj_defaultVFS(mjVFS* vfs)
    int mj_addBufferVFS(mjVFS* vfs, const char* name, const void* buffer, int nbuffer)
    void mj_deleteVFS(mjVFS* vfs)
    mjModel* mj_loadXML(const char* filename, const mjVFS* vfs, char* error, int error_sz)
    mjModel* mj_copyModel(mjModel* dest, const mjModel* src)
    void mj_deleteModel(mjModel* m)
    mjData* mj_makeData(const mjModel* m)
    void mj_deleteData(mjData* d)
    void mj_resetData(const mjModel* m, mjData* d)
    void mj_forward(const mjModel* m, mjData* d)
    void mj_step(const mjModel* m, mjData* d)
    void mj_step1(const mjModel* m, mjData* d)
    void mj_step2(const mjModel* m, mjData* d)
    void mj_rnePostConstraint(const mjModel* m, mjData* d)
    int mj_name2id(const mjModel* m, int type, const char* name)
    void mju_error(const char* msg, ...)

cdef extern from "guard.h" nogil:
    ctypedef void (*mjfLogHandler)(const void* message) noexcept nogil
    mjfLogHandler ep_mj_enter()
    void ep_mj_leave(mjfLogHandler before)
    int ep_mj_call(int (*body)(void* argument) noexcept nogil, void* argument, char* text, size_t size)
