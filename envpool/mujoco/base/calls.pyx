"""MuJoCo's functions for the modules of the tasks; calls.pxd explains why they stand here."""

from envpool.mujoco.base cimport mujoco

mj_resetData = mujoco.mj_resetData
mj_forward = mujoco.mj_forward
mj_step = mujoco.mj_step
mj_step1 = mujoco.mj_step1
mj_step2 = mujoco.mj_step2
mj_kinematics = mujoco.mj_kinematics
mj_comPos = mujoco.mj_comPos
mj_collision = mujoco.mj_collision
mj_rnePostConstraint = mujoco.mj_rnePostConstraint
mj_objectVelocity = mujoco.mj_objectVelocity
mj_jacSite = mujoco.mj_jacSite
mju_axisAngle2Quat = mujoco.mju_axisAngle2Quat
mjv_defaultCamera = mujoco.mjv_defaultCamera
mjv_defaultFreeCamera = mujoco.mjv_defaultFreeCamera
