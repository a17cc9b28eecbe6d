"""The tasks, one file each. Importing any of them loads libmujoco (``envpool.mujoco.base``)."""

import envpool.mujoco.base  # noqa: F401
