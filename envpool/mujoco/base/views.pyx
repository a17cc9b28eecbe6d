"""The default camera of Gymnasium's MuJoCo renderer; views.pxd documents the function."""

from envpool.mujoco.base.mujoco cimport mjv_defaultCamera


cdef CameraView gymnasium_view(Model model, dict camera):
    cdef CameraView view
    view.height = view.width = 480
    view.max_geom = 1000
    view.shows_rangefinders = True
    mjv_defaultCamera(&view.camera)
    view.camera.distance = camera.get("distance", model.m.stat_extent)
    view.camera.azimuth = camera.get("azimuth", view.camera.azimuth)
    view.camera.elevation = camera.get("elevation", view.camera.elevation)
    view.aims_at_median = "lookat" not in camera
    if not view.aims_at_median:
        view.camera.lookat = camera["lookat"]
    return view
