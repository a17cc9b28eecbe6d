"""The tasks of the package, for tests that run over all of them."""

import envpool

#: Tasks whose maps no package contains: users pass the paths of theirs.
WITHOUT_MAPS = ("D1Basic-v1", "D2Navigation-v1", "D3Battle-v1", "D4Battle2-v1", "VizdoomCustom-v1")


def playable_tasks():
    """Return the ids of all tasks that can be made without options."""
    return [task_id for task_id in envpool.list_all_envs() if task_id not in WITHOUT_MAPS]
