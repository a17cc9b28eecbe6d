"""The part of MuJoCo's API that this family uses, and the guard around its calls (guard.h).

The modules of tasks call MuJoCo through calls.pxd instead.
"""

from libc.stddef cimport size_t

cdef extern from "mujoco_versions.h" nogil:
    ctypedef struct mjVFS:
        pass

    ctypedef double (*mjfTime)() noexcept nogil
    mjfTime mjcb_time

    ctypedef struct mjOption:
        double timestep
        double gravity[3]
        double wind[3]
        double density
        double viscosity
        int integrator
        int disableflags
        int enableflags

    ctypedef struct mjModel:
        long nq
        long nv
        long nu
        long nactuator "EP_NUM_ACTUATORS"
        long nout "EP_NUM_FORCES"
        long na
        long nbody
        long ntree
        long ngeom
        long nsite
        long ntendon
        long nsensor
        long nsensordata
        long njnt
        long nlight
        long nhfielddata
        long nhfield
        long ncam
        long nskin
        long nwrap
        long nmocap
        long neq
        long nflex
        long nplugin
        mjOption opt
        int vis_offwidth "vis.global.offwidth"
        int vis_offheight "vis.global.offheight"
        double stat_extent "stat.extent"
        double* qpos0
        double* body_pos
        double* body_quat
        double* body_mass
        double* body_inertia
        double* body_subtreemass
        int* body_parentid
        int* body_geomadr
        int* body_geomnum
        int* jnt_type
        int* jnt_qposadr
        int* jnt_dofadr
        unsigned char* jnt_limited
        double* jnt_range
        double* jnt_stiffness
        int* dof_jntid
        double* dof_damping
        double* dof_armature
        double* dof_frictionloss
        int* geom_bodyid
        int* geom_contype
        unsigned char* geom_sameframe
        int* geom_conaffinity
        double* geom_fluid
        double* geom_pos
        double* geom_quat
        double* geom_size
        double* geom_friction
        double* site_pos
        double* site_size
        float* geom_rgba
        float* site_rgba
        int* cam_mode
        double* light_pos
        int* wrap_type
        double* wrap_prm
        double* hfield_size
        float* hfield_data
        int* sensor_type
        int* sensor_objtype
        int* sensor_reftype
        int* sensor_adr
        int* sensor_dim
        int* body_mocapid
        int* eq_type
        int* eq_obj1id
        int* eq_obj2id
        double* eq_data
        int* actuator_biastype
        int* actuator_trnid
        unsigned char* actuator_ctrllimited
        double* actuator_ctrlrange
        double* actuator_gainprm

    ctypedef struct mjWarningStat:
        int number

    ctypedef struct mjData:
        double time
        mjWarningStat warning[7]        # mjNWARNING
        int ncon
        double* qpos
        double* qvel
        double* act
        double* ctrl
        double* mocap_pos
        double* mocap_quat
        double* qacc_warmstart
        double* xpos
        double* xquat
        double* xmat
        double* xipos
        double* xanchor
        double* geom_xpos
        double* geom_xmat
        double* site_xpos
        double* site_xmat
        double* cinert
        double* cvel
        double* ten_length
        double* ten_velocity
        double* sensordata
        double* qfrc_actuator
        double* qfrc_constraint
        double* cfrc_ext

    ctypedef struct mjvCamera:
        int type
        int fixedcamid
        double lookat[3]
        double distance
        double azimuth
        double elevation

    int mjOBJ_BODY
    int mjOBJ_JOINT
    int mjOBJ_GEOM
    int mjOBJ_SITE
    int mjOBJ_LIGHT
    int mjOBJ_CAMERA
    int mjOBJ_SENSOR
    int mjOBJ_ACTUATOR
    int mjCAMLIGHT_TRACKCOM
    int mjJNT_FREE
    int mjJNT_BALL
    int mjJNT_SLIDE
    int mjJNT_HINGE
    int mjEQ_WELD
    int mjINT_RK4
    int mjDSBL_ACTUATION
    int mjDSBL_AUTORESET
    const bint EP_FORWARD_MOVES_START
    const bint EP_HAS_FLAT_NAMES
    int mjDSBL_ISLAND "EP_DSBL_ISLAND"
    int mjDSBL_MIDPHASE
    int mjDSBL_SENSOR
    int mjENBL_SLEEP "EP_ENBL_SLEEP"
    int mjNFLUID
    int mjSENS_RANGEFINDER
    int mjWRAP_CYLINDER
    int mjWRAP_SPHERE
    int mjSENS_GEOMDIST
    int mjSENS_GEOMNORMAL
    int mjSENS_GEOMFROMTO
    int mjSTATE_WARMSTART
    int mjSTATE_EQ_ACTIVE
    int mjSTATE_MOCAP_POS
    int mjSTATE_INTEGRATION
    enum:
        mjWARN_BADQPOS
        mjWARN_BADQVEL
        mjWARN_BADQACC
        mjNWARNING
        mjNGAIN
        mjNEQDATA
    const double mjMAXVAL

    void mj_defaultVFS(mjVFS* vfs)
    int mj_addBufferVFS(mjVFS* vfs, const char* name, const void* buffer, int nbuffer)
    void mj_deleteVFS(mjVFS* vfs)
    mjModel* mj_loadXML(const char* filename, const mjVFS* vfs, char* error, int error_sz)
    void mj_deleteModel(mjModel* m)
    mjData* mj_makeData(const mjModel* m)
    void mj_deleteData(mjData* d)
    void mj_resetData(const mjModel* m, mjData* d)
    mjData* mj_copyData(mjData* to, const mjModel* m, const mjData* source)
    int mj_stateSize(const mjModel* m, int which)
    void mj_getState(const mjModel* m, const mjData* d, double* state, int which)
    void mj_setState(const mjModel* m, mjData* d, const double* state, int which)
    void mj_local2Global(mjData* d, double* xpos, double* xmat, const double* pos, const double* quat, int body,
                         unsigned char sameframe)
    void mj_forward(const mjModel* m, mjData* d)
    void mj_step(const mjModel* m, mjData* d)
    void mj_step1(const mjModel* m, mjData* d)
    void mj_step2(const mjModel* m, mjData* d)
    void mj_kinematics(const mjModel* m, mjData* d)
    void mj_comPos(const mjModel* m, mjData* d)
    void mj_collision(const mjModel* m, mjData* d)
    void mj_rnePostConstraint(const mjModel* m, mjData* d)
    void mj_objectVelocity(const mjModel* m, const mjData* d, int objtype, int objid, double* res, int flg_local)
    void mj_jacSite(const mjModel* m, const mjData* d, double* jacp, double* jacr, int site)
    void mju_axisAngle2Quat(double* res, const double* axis, double angle)
    void mjv_defaultCamera(mjvCamera* camera)
    void mjv_defaultFreeCamera(const mjModel* m, mjvCamera* camera)
    int mj_name2id(const mjModel* m, int type, const char* name)
    const char* mj_id2name(const mjModel* m, int type, int id)
    long ep_num_history(const mjModel* m)
    int ep_first_control(const mjModel* m, long actuator)
    int ep_first_force(const mjModel* m, long actuator)

cdef extern from "guard.h" nogil:
    ctypedef struct ep_mj_handlers:
        pass
    ep_mj_handlers ep_mj_enter()
    void ep_mj_leave(ep_mj_handlers before)
    int ep_mj_call(int (*body)(void* argument) noexcept nogil, void* argument, char* text, size_t size)
