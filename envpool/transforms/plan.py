"""Transforms of an environment definition and of its batches, as the options say.

The code of the transforms is imported with the first one that is used: most pools have none.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from envpool._core.definition import Field, describe
from envpool.config.options import TRANSFORM_DEFAULTS
from envpool.config.spaces import ArraySpec
from envpool.config.transform_checks import OBS_PARAMETERS, REWARD_PARAMETERS
from envpool.native import PlayerGroup

if TYPE_CHECKING:
    from envpool.transforms.normalization import Normalization
    from envpool.transforms.observations import BatchArray
    from envpool.transforms.scaling import BatchScaling

OBS_TRANSFORMS = ("time_aware", "frame_stack", "float32_obs", "normalize_obs", "clip_obs")
ACTION_TRANSFORMS = ("clip_action", "rescale_action")


class Transforms:
    """The transforms of a task under a configuration.

    Parameters
    ----------
    config : namedtuple
        The validated options of the task.
    names : collection of str
        The options of transforms that the configuration has, see `envpool.config.options.transforms_of`.

    Attributes
    ----------
    options : dict
        The options of transforms that apply, in their normal forms.
    """

    def __init__(self, config: Any, names: Collection[str]):
        given = {name: getattr(config, name) for name in names}
        self.options: dict[str, Any] = given
        self._values = TRANSFORM_DEFAULTS | given
        self._reward_bounds: tuple[float, float] | None = self._values["reward_clip"]
        self._limit: int = config.max_episode_steps
        self._num_envs: int = config.num_envs
        self._arrays: list[BatchArray] = []
        self._shapes: dict[str, tuple[int, ...]] = {}

    @property
    def reward_array(self) -> dict[str, ArraySpec]:
        """The array of rewards with its bounds, by its name."""
        return {"reward": ArraySpec(np.float32, [-1], *(self._reward_bounds or ()))}

    def changes(self, *names: str) -> bool:
        """Return whether an option has another value than its default."""
        return any(self._values[name] != TRANSFORM_DEFAULTS[name] for name in names)

    def groups(self, groups: tuple[PlayerGroup, ...], fields: Sequence[Field]) -> tuple[PlayerGroup, ...]:
        """Return groups of players whose smaller observations are transformed; `fields` are the environment's own."""
        if not self.changes("time_aware", "frame_stack"):
            return groups
        from envpool.transforms.observations import transform_groups

        return transform_groups(groups, fields, self._values)

    def wrap(self, capsule: Any, groups: Sequence[PlayerGroup] = ()) -> Any:
        """Return an environment definition with the transforms of rows and actions.

        Parameters
        ----------
        capsule : PyCapsule
            The definition, as `upgrade_capsule` returns it.
        groups : sequence of PlayerGroup
            The groups of the players, as the environment declares them; empty if it has none.

        Raises
        ------
        ConfigError
            A transform is not defined for the observations or the actions of the task.
        """
        if not self.changes(*OBS_TRANSFORMS, *ACTION_TRANSFORMS):
            return capsule
        from envpool.transforms.actions import transform_actions
        from envpool.transforms.observations import row_shape, transform_fields
        from envpool.transforms.wrapped import wrap

        about = describe(capsule)
        observations = transform_fields(about.fields, self._values, self._limit, about.num_players, groups)
        actions, action_changes = transform_actions(about.actions, self._values, about.num_players)
        self._arrays = observations.arrays
        self._shapes = {array.name: row_shape(observations.fields[array.target]) for array in self._arrays}
        return wrap(capsule, observations.fields, actions, observations.changes, action_changes)

    def for_batches(self, num_players: int = 0) -> BatchScaling | None:
        """Return the transforms of the batches of a new pool; None if batches are not transformed.

        `num_players` are the places for players in an environment, 0 if it has none.
        """
        if not self.changes("normalize_obs", "clip_obs", "scale_reward", "normalize_reward", "reward_clip"):
            return None
        from envpool.transforms.scaling import BatchScaling

        obs = parameters(self._values["normalize_obs"], OBS_PARAMETERS)
        returns = parameters(self._values["normalize_reward"], REWARD_PARAMETERS)
        return BatchScaling(
            self._num_envs,
            self._arrays,
            None if obs is None else obs["epsilon"],
            self._values["clip_obs"],
            self._values["scale_reward"],
            None if returns is None else (returns["gamma"], returns["epsilon"]),
            self._reward_bounds,
            num_players,
        )

    def normalization(self, transforms: BatchScaling | None) -> Normalization | None:
        """Return the running statistics of the transforms that `for_batches` has returned; None if there are none."""
        if transforms is None or not self.changes("normalize_obs", "normalize_reward"):
            return None
        from envpool.transforms.normalization import Normalization

        return Normalization(transforms, self._shapes if self.changes("normalize_obs") else {})


def parameters(value: Any, defaults: Mapping[str, float]) -> dict[str, float] | None:
    """Return the parameters of a normalisation; None if there is none."""
    if value is False:
        return None
    return dict(defaults) | (dict(value) if isinstance(value, Mapping) else {})
