"""Task table of the NetHack family: upstream's ids."""

from envpool.nethack.table import TASK_OPTIONS, TASKS
from envpool.tasks.entries import table

register = table(__name__)

for name in TASKS:
    register(f"{name}-v0", "envpool.nethack.definition", env="NetHack", task=name, **TASK_OPTIONS.get(name, {}))
