"""Small models for tests: an arm of two links, a ball that a mocap body shows, a floor; and three pendulums."""

ARM = """
<mujoco model="arm">
  <option timestep="0.01"/>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 0.1"/>
    <body name="upper" pos="0 0 0.5">
      <joint name="shoulder" axis="0 1 0" range="-90 90" limited="true" damping="0.1"/>
      <geom name="upper_link" type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/>
      <body name="lower" pos="0.3 0 0">
        <joint name="elbow" axis="0 1 0" damping="0.1"/>
        <geom name="lower_link" type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/>
        <site name="tip" pos="0.3 0 0"/>
      </body>
    </body>
    <body name="target" mocap="true" pos="0.3 0 0.3">
      <geom name="ball" type="sphere" size="0.02" contype="0" conaffinity="0"/>
    </body>
  </worldbody>
  <actuator>
    <motor name="shoulder_motor" joint="shoulder" ctrlrange="-2 4" ctrllimited="true"/>
    <motor name="elbow_motor" joint="elbow"/>
  </actuator>
  <sensor>
    <framelinvel name="tip_velocity" objtype="site" objname="tip"/>
  </sensor>
  <keyframe>
    <key name="bent" qpos="0.1 -0.5" mpos="0.1 0 0.2"/>
    <key name="straight" qpos="0.2 0"/>
  </keyframe>
</mujoco>
"""

#: An actuator with three controls and forces precedes those with one.
PENDULUMS = """
<mujoco>
  <worldbody>
    <body><joint name="ball" type="ball"/><geom type="capsule" size="0.1" fromto="0 0 0 0 0 .3"/></body>
    <body pos="2 0 0"><joint name="left" axis="0 1 0"/><geom type="capsule" size="0.1" fromto="0 0 0 0 0 .3"/></body>
    <body pos="4 0 0"><joint name="right" axis="0 1 0"/><geom type="capsule" size="0.1" fromto="0 0 0 0 0 .3"/></body>
  </worldbody>
  <actuator>
    <orientation name="turn" joint="ball" kp="2"/>
    <motor name="left_motor" joint="left" ctrlrange="-1 1" gear="3"/>
    <motor name="right_motor" joint="right" gear="5"/>
  </actuator>
</mujoco>
"""
