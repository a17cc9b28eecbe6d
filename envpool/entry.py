"""The tasks of all families under EnvPool's path: importing this module loads the table of tasks."""

from envpool.tasks.registry import registry

tasks = registry.tasks
