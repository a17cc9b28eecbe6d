"""Pools of Python environments: their additions to the pools of native ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np

from envpool._support.keywords import with_alias
from envpool.config.spaces import named_tuple
from envpool.errors import ConfigError, RenderError, StateError
from envpool.pools.reset_options import one_per_reset
from envpool.pools.styles.players import MASK
from envpool.python_envs.base import ObjectOptions
from envpool.python_envs.infos import add_infos, batch_infos
from envpool.python_envs.layout import Leaf, at, batch_of_objects, flat_action

T = TypeVar("T")


class PythonStyle:
    """Mixin for API styles: observations in the structure of the space, and infos that come and go.

    Infos are not part of the field table, since nobody knows their keys in advance: `finish` adds the infos of the rows
    of a batch, in the form of gymnasium's vector environments. Entries of the pool, such as ``env_id``, keep their
    names.
    """

    spec: Any
    is_same_step: bool
    envs: Any = None

    @property
    def raises_causes(self) -> bool:
        """Whether exceptions of environments are raised themselves; see `Style`."""
        return bool(self.spec.config.source.debug)

    @property
    def obs_layout(self) -> Any:
        """How observations travel."""
        return self.spec.config.source.observations

    @property
    def flatten_action(self) -> Any:
        """Function that turns structured actions into arrays by field name; see `Style.flatten_action`."""
        layout = self.spec.config.source.actions
        return None if layout.is_single or self.spec.num_players else partial(flat_action, layout)

    def observation(self, names: Sequence[str], prefix: str = "") -> Any:
        """Return the nest of the observation arrays; the env ids stand for leaves that are carried as objects."""
        if self.spec.num_players:
            return super().observation(names, prefix)  # type: ignore[misc]
        return self.obs_layout.nest(lambda leaf: prefix + leaf.name if leaf.is_field else "env_id")

    def forms(self, names: Sequence[str]) -> tuple[Any, Any]:
        """Return the nests of reset() and step(); see `Style.forms`."""
        self._names = list(names)
        self._ids = self._names.index("env_id")
        self._has_objects = bool(self.obs_layout.objects)
        self._reserved = own_keys(self.spec)
        self._ended = self._names.index("final:mask") if self.is_same_step else -1
        if self._has_objects and self.spec.config.finished_episodes:
            raise ConfigError(
                "finished_episodes=True needs observations that are arrays of a fixed shape, but the observation space "
                f"contains {self.obs_layout.objects[0].space}: leave it out"
            )
        nests: tuple[Any, Any] = super().forms(names)  # type: ignore[misc]
        return nests

    def block_source(self) -> Any:
        """Return the memory that worker processes share, if they write into batches; see `Style.block_source`."""
        return self.spec.config.source.live_blocks()

    def set_attributes(self, pool: Any) -> None:
        """Give the pool its environments; see `Style.set_attributes`."""
        self.envs = pool.envs = self.spec.config.source.take_live()
        super().set_attributes(pool)  # type: ignore[misc]

    def finish(self, result: Any, arrays: Sequence[Any]) -> Any:
        """Add infos and objects to a result; see `Style.finish`."""
        if not self.envs.has_extras:
            return result
        ids = arrays[self._ids]
        infos, carried = self.envs.extras(ids, False)
        if self._has_objects:
            result = (self._with_objects(carried, arrays, ""), *result[1:])
        if not isinstance(result, tuple):
            return result  # reset() of old gym may return observations only
        info = result[-1]
        self._add(info, infos, arrays, range(len(infos)))
        if self.is_same_step and "final_info" in info:
            final_obs = self._add_final(info["final_info"], arrays)
            info["final_obs"] = info["final_obs"] if final_obs is None else final_obs
        return result

    def _add(
        self, info: dict[str, Any], infos: list[Any], arrays: Sequence[Any], rows: Sequence[int], of_final: bool = False
    ) -> None:
        """Add the infos of the rows of a batch to its info; see `add_infos`."""

        def drop(env_id: int) -> None:
            self.envs.drop_info(env_id, of_final)

        batched = partial(self._of_players, infos, arrays, of_final) if self.spec.num_players else None
        add_infos(info, infos, rows, arrays[self._ids], drop, batched, self._reserved)

    def shown_in(self, of_final: bool) -> Any:
        """Return the players that have places in results, (B, places) or (1, places); None for all players.

        `of_final`: of the last steps of episodes that have ended, in a batch that also begins others.
        """
        return None

    def _of_players(
        self, infos: list[Any], arrays: Sequence[Any], of_final: bool, rows: Sequence[int]
    ) -> dict[str, Any]:
        """Return the entries for infos by player, with entries of whole environments under -1; see `PlayersEnv`."""
        players = self.spec.num_players
        shared = {row: infos[row][-1] for row in rows if -1 in infos[row]}
        own = {row * players + p: one for row in rows for p, one in infos[row].items() if p >= 0}
        found = batch_infos(len(infos) * players, list(own), list(own.values()))
        kind = self.spec.config.players
        if kind == "dict":
            entries = {g.name: viewed(found, players, list(g.players)) for g in self.spec.groups} if found else {}
        else:
            entries = viewed(found, players, self.shown_in(of_final))
            if kind == "rows":
                places = np.flatnonzero(arrays[self._names.index(MASK)])
                entries = mapped(entries, lambda array: array.reshape(-1, *array.shape[2:]).take(places, 0))
        return batch_infos(len(infos), list(shared), list(shared.values())) | entries

    def _add_final(self, info: dict[str, Any], arrays: Sequence[Any]) -> Any:
        """Add the last infos of ended episodes, and return their last observations if those contain objects."""
        ended = np.flatnonzero(arrays[self._ended]).tolist()
        infos, carried = self.envs.extras(arrays[self._ids], True)
        self._add(info, infos, arrays, ended, of_final=True)
        if not self._has_objects:
            return None
        return self._with_objects([c if row in ended else None for row, c in enumerate(carried)], arrays, "final:")

    def _with_objects(self, carried: list[Any], arrays: Sequence[Any], prefix: str) -> Any:
        """Return the observations of a batch, from its arrays and the objects of its rows."""
        position = {leaf.name: k for k, leaf in enumerate(self.obs_layout.objects)}

        def batch(leaf: Leaf) -> Any:
            if leaf.is_field:
                return arrays[self._names.index(prefix + leaf.name)]
            return batch_of_objects(leaf, [None if c is None else c[position[leaf.name]] for c in carried])

        return self.obs_layout.nest(batch)


def own_keys(spec: Any) -> frozenset[str]:
    """Return the keys of info that the pool has in some batches, in which no entry of an environment may stand."""
    config = spec.config
    optional = {"error": config.on_error == "restart", "finished": config.finished_episodes}
    return frozenset([*spec.entries, *(key for key, is_on in optional.items() if is_on)])


def mapped(nest: dict[str, Any], function: Callable[[Any], Any]) -> dict[str, Any]:
    """Return a nest of arrays with the results of a function in place of the arrays."""
    return {k: mapped(v, function) if isinstance(v, dict) else function(v) for k, v in nest.items()}


def viewed(nest: dict[str, Any], players: int, chosen: Any) -> dict[str, Any]:
    """Return arrays with a row for each place of each environment as arrays (B, places, ...) of the chosen players.

    `chosen` are their numbers, (places,) or (B, places) or (1, places); None for all of them.
    """

    def view(array: Any) -> Any:
        grid = array.reshape(-1, players, *array.shape[1:])
        return grid if chosen is None else grid[np.arange(len(grid))[:, None], chosen]

    return mapped(nest, view)


class PythonDMStyle(PythonStyle):
    """Mixin for the dm style: infos are the first entry of State, a dict."""

    more_entries = ("infos",)

    def forms(self, names: Sequence[str]) -> tuple[Any, Any]:
        """Return the nests of reset() and step(), which are equal; see `Style.forms`."""
        _, step = super().forms(names)
        if self._has_objects:
            raise ConfigError(
                "the dm style needs observations that are arrays of a fixed shape, but the observation space contains "
                f"{self.obs_layout.objects[0].space}: use env_type='gymnasium'"
            )
        state = step.observation
        with_infos = named_tuple("State", ("infos", *state._fields))({}, *state)
        step = step._replace(observation=with_infos)
        return step, step

    def finish(self, result: Any, arrays: Sequence[Any]) -> Any:
        """Add the infos of a batch; see `Style.finish`."""
        if self.envs.has_extras:
            infos, _ = self.envs.extras(arrays[self._ids], False)
            self._add(result.observation.infos, infos, arrays, range(len(infos)))
        return result


class PythonVectorStyle(PythonStyle):
    """Mixin for the style inside a VectorEnv; `VectorStyle` describes its results."""

    def finish(self, result: Any, arrays: Sequence[Any]) -> Any:
        """Add infos and objects to a result; see `Style.finish`."""
        if not self.envs.has_extras:
            return result
        infos, carried = self.envs.extras(arrays[self._ids], False)
        if self._has_objects:
            result = (self._with_objects(carried, arrays, ""), *result[1:])
        is_step = len(result) > 2
        self._add(result[4 if is_step else 1], infos, arrays, range(len(infos)))
        if is_step and result[5]:
            final_obs, final_info, ended = result[5]
            objects = self._add_final(final_info, arrays)
            result = (*result[:5], (final_obs if objects is None else objects, final_info, ended), *result[6:])
        return result


class PythonPool:
    """Mixin for the pools of Python environments: access to the environments, and structured actions.

    Attributes
    ----------
    envs : object
        The environments; see `envpool.python_envs.envs.Envs`.
    """

    spec: Any
    envs: Any = None
    _use_envs: Callable[[bytes, Any, Callable[[list[int]], Any]], Any]

    def sample_actions(self, rng: Any = None, env_id: Any = None) -> Any:
        """Return random actions in the structure of the action space; see ``EnvPool.sample_actions``."""
        layout = self.spec.config.source.actions
        actions = super().sample_actions(rng, env_id)  # type: ignore[misc]
        if layout.is_single or self.spec.num_players:
            return actions
        if len(layout.leaves) == 1:
            return layout.nest(lambda leaf: actions)
        return layout.nest(lambda leaf: at(actions, tuple(leaf.name.split("."))))

    def _reset_options(self, options: Any, count: int) -> ObjectOptions:
        packed: dict[int, Any] = {}  # an object that several environments get is packed once
        given = one_per_reset(options, count)
        for entry in given:
            if entry is not None and id(entry) not in packed:
                packed[id(entry)] = self.envs.packed(entry)
        return ObjectOptions(self.envs, [None if entry is None else packed[id(entry)] for entry in given])

    def render(self, *args: Any, **kwargs: Any) -> Any:
        """Return frames; see ``EnvPool.render``. In debug mode, the exception of an environment is raised itself."""
        try:
            return super().render(*args, **kwargs)  # type: ignore[misc]
        except RenderError as error:
            if not self.spec.config.source.debug or error.__cause__ is None:
                raise
            cause = error.__cause__
        raise cause

    def __reduce__(self) -> Any:
        raise StateError("pools of Python environments cannot be pickled or copied: make the pool in the other process")

    def close(self, **kwargs: Any) -> None:
        """Close the pool and its environments; see ``EnvPool.close``. Processes that do not end in time are killed."""
        if hasattr(self.envs, "begin_close"):
            self.envs.begin_close()
        super().close(**kwargs)  # type: ignore[misc]

    def _close_at_once(self) -> None:
        if hasattr(self.envs, "begin_close"):
            self.envs.begin_close()
        super()._close_at_once()  # type: ignore[misc]

    def __del__(self) -> None:
        if hasattr(self.envs, "begin_close"):  # a pool that was not closed: threads may wait for environments forever
            self.envs.begin_close()

    @with_alias("env_ids", "env_id")
    def call(self, name: str, *args: Any, env_id: Any = None, **kwargs: Any) -> tuple[Any, ...]:
        """Call a method of environments, or read an attribute that is not callable.

        Parameters
        ----------
        name : str
            Name of the method; wrappers are searched from the outside.
        *args, **kwargs
            Arguments of the method.
        env_id : int or array_like of int, optional
            (B,) environments; none of them may be in flight. By default all environments. Until the call returns, no
            other call may use them.

        Returns
        -------
        tuple
            One result per environment. Exceptions of the method are raised here.

        Raises
        ------
        EnvIdError
            Ids are out of range, repeated, or of environments that are in flight.
        PoolStateError
            Another call is using one of the environments, or the pool is closed or was forked.
        ConfigError
            With ``workers="process"``: the arguments cannot be pickled, or take more than 1 MiB.
        EnvStepError
            The process of an environment ended; the text says how. The other environments of the process are lost, too.
        """
        return tuple(self._use_envs(b"call", env_id, lambda ids: self.envs.call(ids, name, args, kwargs)))

    @with_alias("env_ids", "env_id")
    def get_attr(self, name: str, env_id: Any = None) -> tuple[Any, ...]:
        """Return an attribute of environments, one value per environment; see `call` for ids and errors."""
        return tuple(self._use_envs(b"get_attr", env_id, lambda ids: self.envs.get_attr(ids, name)))

    @with_alias("env_ids", "env_id")
    def set_attr(self, name: str, values: Any, env_id: Any = None) -> None:
        """Set an attribute of environments.

        Parameters
        ----------
        name : str
            Name of the attribute. It is set on the outermost wrapper that has it, else on the environment itself.
        values : object
            A list or tuple with one value per environment; any other object is the value of all.
        env_id : int or array_like of int, optional
            Environments, (B,); see `env_id` of `call`.
        """

        def assign(ids: list[int]) -> None:
            given = list(values) if isinstance(values, (list, tuple)) else [values] * len(ids)
            if len(given) != len(ids):
                raise ConfigError(
                    f"values must have one entry for each of the {len(ids)} environments, got {len(given)}"
                )
            self.envs.set_attr(ids, name, given)

        self._use_envs(b"set_attr", env_id, assign)

    def _visit(self, function: Callable[..., T], *args: Any, env_id: Any = None) -> list[T]:
        """Return ``function(env, *args)`` of environments, one result per environment; see `call` for ids and errors.

        With ``workers="process"``, the function, its arguments and its results are pickled.
        """
        results: list[T] = self._use_envs(b"call", env_id, lambda ids: self.envs.visit(ids, function, args))
        return results


def python_pool(base: Any) -> type:
    """Return the base class of the pools of Python environments in the API style of a pool class."""
    mixin = {"DMEnvPool": PythonDMStyle, "VectorPool": PythonVectorStyle}.get(base._suffix, PythonStyle)
    style = type(f"Python{base._style.__name__}", (mixin, base._style), {"__doc__": base._style.__doc__})
    return type(f"Python{base.__name__}", (PythonPool, base), {"__doc__": base.__doc__, "_style": style})
