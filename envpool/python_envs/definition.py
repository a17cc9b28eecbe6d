"""The environment definition of Python environments, which `envpool.make_python` makes pools of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import envpool.python_envs.envs as envs
from envpool.config.options import TRANSFORM_DEFAULTS
from envpool.errors import ConfigError
from envpool.native import EnvDefinition, PlayerGroup
from envpool.python_envs.python_pool import python_pool
from envpool.tasks.carried import refuse_objects
from envpool.transforms.plan import OBS_TRANSFORMS


class PythonEnv(EnvDefinition):
    """Environments that are Python objects; the option `source` is an `envpool.python_envs.source.EnvSource`."""

    options: ClassVar = {"source": None}
    needs_seeds = False

    @staticmethod
    def build(config: Any) -> Any:
        """Return the capsule of the environments."""
        if config.source is None:
            raise ConfigError("a task of Python environments cannot be made by its id: use envpool.make_python")
        check_transforms(config)
        if config.source.is_in_use:
            raise ConfigError(
                "a spec of Python environments belongs to the pool that it was made for: call envpool.make_python again"
            )
        config.source.is_in_use = True
        config.source.seeds = list(config.env_seed) or ([] if config.seed is None else [config.seed])
        if config.source.processes is None:
            capsule = envs.build(config.source)
            if not config.source.debug:
                return capsule
            from envpool.transforms.poisoned import poisoned

            return poisoned(capsule)
        from envpool.python_envs import proxy

        return proxy.build(config.source)

    @staticmethod
    def spaces(config: Any, changed: Mapping[str, Any]) -> tuple[Any, Any] | None:
        """Return the spaces of one environment, its own except for the ones in `changed`; None if it has players."""
        source = config.source
        if source.num_players:
            return None
        return source.observations.space_with(changed), source.actions.space_with(changed)

    @staticmethod
    def player_groups(config: Any) -> Sequence[PlayerGroup] | None:
        """Return the groups of agents."""
        groups: Sequence[PlayerGroup] | None = config.source.groups
        return groups

    @staticmethod
    def pool_base(base: type) -> type:
        """Return the pool class of an API style with the methods and results of Python environments."""
        return python_pool(base)

    @staticmethod
    def render_fps(config: Any) -> int:
        """Return the frame rate that the metadata of the environment names."""
        return int(config.source.render_fps)


def check_transforms(config: Any) -> None:
    """Raise ConfigError for transforms of observations that are carried as objects, which no transform reaches."""
    for name in OBS_TRANSFORMS:
        if getattr(config, name) != TRANSFORM_DEFAULTS[name]:
            refuse_objects(config, name, "leave it out, or ")
