"""`EnvPool.sample_actions`: random actions of a pool's task."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from envpool._core.env_ids import as_ids
from envpool.errors import EnvIdError

if TYPE_CHECKING:
    from envpool.rollout.actions import RandomActions
    from envpool.rollout.sampling import Sampler
    from envpool.spec import EnvSpec

#: Follows the option `seed` in the seed of a pool's own Sampler, so that its draws are not those of an environment.
OWN_SEED = 0x616374


class SamplesActions:
    """The part of an EnvPool that draws random actions."""

    spec: EnvSpec
    num_envs: int
    all_env_ids: npt.NDArray[np.int32]

    def sample_actions(self, rng: Any = None, env_id: Any = None) -> Any:
        """Return random actions that ``step`` and ``send`` accept, with the distribution of the action space.

        Parameters
        ----------
        rng : envpool.rollout.Sampler, numpy.random.Generator, int or sequence of int, optional
            Where the random numbers come from. A Sampler or Generator advances; a seed gives the same actions in every
            call. By default a Sampler of the pool, which starts from the option `seed` and does not affect the
            environments.
        env_id : array_like of int, optional
            (B,): the environments that will get the actions. By default all.

        Returns
        -------
        numpy.ndarray or dict
            A row for each environment, (B, ...), in the dtype of the action. If the action has several arrays, a
            nested dict of them with the keys ``env_id`` and ``players``.

        Raises
        ------
        EnvIdError
            Ids are out of range.
        TypeError, ConfigError
            `rng` is something else, or a seed is not allowed.

        Notes
        -----
        Integers and bools are uniform. Floats are uniform between two bounds; with one bound, the distance to it is
        exponential with mean 1; without bounds, they are standard normal. Closed pools can be asked as well.
        """
        from envpool.rollout.sampling import as_sampler

        ids = self.all_env_ids if env_id is None else as_ids(env_id)
        assert ids is not None
        for k in np.flatnonzero((ids < 0) | (ids >= self.num_envs))[:1]:
            raise EnvIdError(f"env_id[{k}] is {ids[k]}, allowed are 0 to {self.num_envs - 1}")
        sampler = self._own_sampler if rng is None else as_sampler(rng)
        return self._random_actions.draw(sampler, ids.astype(np.int32))

    @cached_property
    def _own_sampler(self) -> Sampler:
        from envpool.rollout.sampling import Sampler

        seed = self.spec.config.seed
        return Sampler(None if seed is None else [seed, OWN_SEED])

    @cached_property
    def _random_actions(self) -> RandomActions:
        from envpool.rollout.actions import RandomActions

        return RandomActions(self.spec.action_array_spec)
