"""The methods of pools that save, restore, copy and change their environments."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from envpool._core.env_ids import as_ids
from envpool._core.params import get_params, set_params
from envpool._core.pool import Pool
from envpool._core.state import copy_states, restore_states, save_states
from envpool.params import check_values
from envpool.spec import EnvSpec
from envpool.states import EnvStates, options_digest
from envpool.transforms.normalization import Normalization


class StatefulPool(Pool):
    """A pool whose environments have states and parameters; see `envpool.pool.EnvPool`.

    Attributes
    ----------
    spec : EnvSpec
        Task and configuration.
    num_envs : int
        Number of environments.
    normalization : Normalization or None
        The running statistics with which the pool normalises; None if it does not normalise.
    """

    spec: EnvSpec
    num_envs: int
    normalization: Normalization | None = None

    def get_state(self, env_ids: Any = None) -> EnvStates:
        """Return the states of environments, from which `set_state` continues them exactly.

        A state contains everything on which later results depend: the simulation, the random generator or the seed that
        is pending, the elapsed steps, and whether the next step starts an episode. The environments do not change.

        Parameters
        ----------
        env_ids : int or array_like of int, optional
            Environments to save, (B,), each once; none of them may be in flight. By default all environments.

        Returns
        -------
        EnvStates
            One state per id, in that order. It holds no memory of the pool and can be pickled.

        Raises
        ------
        StateError
            The task does not support states, or the last step of an environment failed.
        EnvIdError
            Ids are out of range, repeated, or of environments that are in flight or being rendered.
        PoolStateError
            The pool is closed or was forked.
        """
        return EnvStates(save_states(self, *self._identity, env_ids))

    def set_state(self, states: EnvStates, env_ids: Any = None) -> None:
        """Restore environments; each continues exactly as the environment whose state was saved.

        No observations are returned: the one that belongs to a state is the last one that was received before it was
        saved.

        Parameters
        ----------
        states : EnvStates
            (B,) states of a pool of the same task and options, in any process. The numbers of environments and threads,
            ``batch_size``, the seeds and the API style may differ.
        env_ids : int or array_like of int, optional
            Environments to restore, (B,), each once; none of them may be in flight. By default all environments.

        Raises
        ------
        StateError
            A state is truncated, corrupt, or of another task, other options or another version; the numbers of states
            and ids differ; or the task does not support states. No environment has changed.
        EnvIdError
            Ids are out of range, repeated, or of environments that are in flight or being rendered.
        PoolStateError
            The pool is closed or was forked.
        TypeError
            `states` is not an EnvStates.
        """
        if not isinstance(states, EnvStates):
            raise TypeError(
                f"states must be an EnvStates, got {type(states).__name__}: pass the result of get_state() or of "
                "EnvStates.from_bytes()"
            )
        restore_states(self, *self._identity, tuple(states.states), env_ids)
        if self.normalization is not None:
            self.normalization.restart(env_ids)

    def copy_state(self, source_ids: Any, target_ids: Any) -> None:
        """Copy states between environments of this pool, as ``set_state(get_state(source_ids), target_ids)``.

        Parameters
        ----------
        source_ids : int or array_like of int
            (B,) ids; an id may appear several times.
        target_ids : int or array_like of int
            (B,) ids, each once. Environment ``target_ids[i]`` becomes a copy of ``source_ids[i]``, including its random
            generator. A target must not be the source of another target.

        Raises
        ------
        StateError
            The task does not support states, or the last step of a source failed.
        EnvIdError
            Ids are out of range, of environments that are in flight or being rendered, or not allowed together.
        PoolStateError
            The pool is closed or was forked.
        """
        copy_states(self, self._identity[0], source_ids, target_ids)
        if self.normalization is not None:
            self.normalization.copy(source_ids, target_ids)

    def set_params(self, params: Mapping[str, Any], env_ids: Any = None) -> None:
        """Change parameters of environments, such as physical constants, from their next reset on.

        Parameters
        ----------
        params : mapping of str to array_like
            New values, by the names of `EnvSpec.param_spec`: one value for all environments of the call, or an array
            (B, ...) with one value per environment. Parameters that are not named keep their values.
        env_ids : int or array_like of int, optional
            (B,) ids, each once; by default all environments.

        Raises
        ------
        ConfigError
            A parameter does not exist, or a value or a shape is not allowed.
        TypeError
            A value is not numeric.
        EnvIdError
            Ids are out of range, repeated, or of environments that are in flight or being rendered.
        PoolStateError
            The pool is closed or was forked.
        """
        ids = as_ids(env_ids, "env_ids")
        count = self.num_envs if ids is None else len(ids)
        values = check_values(self.spec.param_spec, params, count, self.spec.task_id or type(self.spec).__name__)
        set_params(self, list(values), ids)

    def get_params(self, env_ids: Any = None, *, in_force: bool = False) -> dict[str, Any]:
        """Return the parameters that the next episodes of environments will have.

        Parameters
        ----------
        env_ids : int or array_like of int, optional
            (B,) ids, each once; by default all environments.
        in_force : bool
            If True, return the parameters of the current episodes instead. Default False.

        Returns
        -------
        dict of str to numpy.ndarray
            One array (B, ...) per parameter; empty if the task has none.

        Raises
        ------
        EnvIdError, PoolStateError
            As for `set_params`.
        """
        values = get_params(self, env_ids, in_force)
        return dict(zip(self.spec.param_spec, values, strict=False))  # options of resets follow the parameters

    @cached_property
    def _identity(self) -> tuple[str, bytes]:
        """Task id and digest of the options, by which states of this task are recognised."""
        return self.spec.task_id or "", options_digest(
            self.spec.config, self.spec.param_spec, self.spec.transforms.options
        )
