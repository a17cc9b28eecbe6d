"""The default camera of Gymnasium's MuJoCo renderer."""

from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.renderer cimport CameraView

# Returns the view of ``gymnasium.envs.mujoco.mujoco_rendering``. `camera` has what a task sets of it: distance (m),
# azimuth and elevation (degrees), lookat (m).
cdef CameraView gymnasium_view(Model model, dict camera)
