"""A pool of a task with players as an ``EnvBase`` of torchrl, with the groups of the task."""

from __future__ import annotations

from typing import Any

import numpy as np

from envpool._core.definition import LEGAL_ACTION_MASK
from envpool.adapters import needs
from envpool.adapters.pools import open_pool
from envpool.config.checks import check_seed
from envpool.config.spaces import ArraySpec, nested
from envpool.errors import ActionError, ConfigError
from envpool.pools.recovery import EXPLAINED, explain, start_over
from envpool.tasks.players import group_spec, has_players
from envpool.tasks.spec import CORE_STATE, PLAYER_STATE
from envpool.tasks.statistics import entry_arrays

with needs("torchrl"):
    import torch
    from tensordict import TensorDict, TensorDictBase
    from torchrl.data import Bounded, Categorical, Composite, MultiCategorical, Unbounded
    from torchrl.envs import EnvBase

#: The flags of ends, of environments and of players.
ENDS = ("done", "terminated", "truncated")
#: Kinds of arrays, and their names in a tensordict.
KINDS = {"obs": "observation", "info": "info"}
#: Infos of every task with players, which a tensordict has in other forms.
NOT_OF_TASKS = {*CORE_STATE, *PLAYER_STATE}


class PlayersEnv(EnvBase):
    """A pool as an ``EnvBase``: ``PlayersEnv("MPE/simple_tag-v3", num_envs=8).rollout(100)``.

    Parameters
    ----------
    pool : str or GymnasiumEnvPool
        Id of a task with players, or a pool of one made by ``envpool.make_gymnasium`` with ``players="dict"``.
        ``close()`` closes the pool.
    device : torch.device or str
        Where tensors are returned; those on the CPU are the memory of the pool, which are yours to keep.
    **options
        Options of ``envpool.make``, allowed with a task id only.

    Attributes
    ----------
    pool : GymnasiumEnvPool
        The pool that steps the environments. Do not call its methods while this object is in use.
    group_map : dict of list of str
        The names of the players of each group, ``"<group>_<k>"``.

    Raises
    ------
    TypeError, ConfigError
        See `envpool.adapters.pools.open_pool`; the task has no players, or an action for a whole environment.

    Notes
    -----
    The batch size is ``(num_envs,)``. Each group is a nested tensordict of batch size ``(num_envs, players)`` with
    ``observation``, ``action``, ``mask``, ``info`` if the task has any and, with a last dimension of 1, ``reward``,
    ``done``, ``terminated`` and ``truncated``. The flags of the environments are at the root; torchrl resets
    environments by them. ``mask`` says which players act in the next step. A player that is not present has zeros, and
    is done and terminated. Arrays of whole environments are at the root.

    In a turn-based task, ``mask`` is True for the player who moves next. Each group has ``action_mask``: the legal
    moves of this player, if the task says them, and all moves for the others, whose actions are ignored. The action
    specs draw legal moves.
    """

    def __init__(self, pool: Any, *, device: Any = "cpu", **options: Any):
        made = self._checked(open_pool(pool, options, players={"players": "dict"}))
        super().__init__(device=device, batch_size=[made.num_envs], allow_done_after_reset=True)
        self.pool = made
        self.group_map = {g.name: [f"{g.name}_{k}" for k in range(len(g.players))] for g in made.spec.groups}
        self._seed: int | None = None  # of the next reset of all environments
        self._players = {g.name: g.players for g in made.spec.groups}
        self._legal: dict[str, torch.Tensor] = {}
        self._make_specs()
        self._zero = self.observation_spec.zero()
        self.is_closed = False

    @staticmethod
    def _checked(pool: Any) -> Any:
        name = pool.spec.task_id or pool.spec.env.__name__
        if not pool.spec.num_players:
            raise ConfigError(
                f"{name} has no players, which this adapter is for: use MultiThreadedEnvWrapper of torchrl with "
                "envpool.make"
            )
        if pool.config["players"] != "dict":
            raise ConfigError(
                f"players must be 'dict' for torchrl, got {pool.config['players']!r}: make the pool with players='dict'"
            )
        if pool.spec.config.observe == "current":
            raise ConfigError("observe must be 'all' for torchrl, got 'current': leave it out")
        for field in pool.spec.action_fields:
            if not has_players(field) and not pool.spec.is_turn_based:
                raise ConfigError(
                    f"torchrl needs actions of players, and {field.name} of {name} is an action of the whole "
                    "environment: use the pool of envpool.make"
                )
        return pool

    def _make_specs(self) -> None:
        """Declare what the tensordicts contain."""
        spec, batch = self.pool.spec, tuple(self.batch_size)
        self._has_turns = spec.is_turn_based
        self._num_moves = legal_moves(spec)
        apart = NOT_OF_TASKS | ({LEGAL_ACTION_MASK} if self._num_moves else set())
        apart |= entry_arrays(spec.entries, spec.num_players).keys()
        arrays = {k: v for k, v in spec.state_array_spec.items() if k not in apart}
        of_players = {k: v for k, v in arrays.items() if v.shape[:1] == [-1]}
        shared = {k: v for k, v in arrays.items() if k not in of_players}
        observation: dict[str, Any] = {}
        action, reward, done = {}, {}, {end: flag(batch) for end in ENDS}
        for group in spec.groups:
            lead = (*batch, len(group.players))
            own = {k: array_spec(v, group.shapes.get(k, v.row_shape), lead) for k, v in of_players.items()}
            seen = {"mask": Categorical(2, shape=lead, dtype=torch.bool)}
            seen |= {name: nest for kind, name in KINDS.items() if (nest := nest_of(own, kind, lead)) is not None}
            if self._num_moves:
                seen["action_mask"] = Categorical(2, shape=(*lead, self._num_moves), dtype=torch.bool)
            rows = {f.name: self._action_rows(f, group) for f in spec.action_fields}
            actions = {name: action_spec(array, batch) for name, array in rows.items()}
            observation[group.name] = Composite(seen, shape=lead)
            action[group.name] = Composite({"action": nest_of(actions, "action", lead)}, shape=lead)
            reward[group.name] = Composite({"reward": Unbounded(shape=(*lead, 1))}, shape=lead)
            done[group.name] = Composite({end: flag(lead) for end in ENDS}, shape=lead)
        whole = {k: array_spec(v, v.shape, batch) for k, v in shared.items()}
        observation |= {name: nest for kind, name in KINDS.items() if (nest := nest_of(whole, kind, batch)) is not None}
        self._shared = {name: observation[name] for name in KINDS.values() if name in observation}
        self.observation_spec, self.action_spec, self.reward_spec, self.done_spec = (
            Composite(parts, shape=batch, device=self.device) for parts in (observation, action, reward, done)
        )

    def _action_rows(self, field: Any, group: Any) -> ArraySpec:
        """Return the spec of the actions of a group in an environment, (players, ...)."""
        if has_players(field):
            return group_spec(field, self.pool.spec.num_players, group)
        shape = (len(group.players), *field.shape)
        low, high = (np.broadcast_to(bound, shape) for bound in (field.low, field.high))
        return ArraySpec(field.dtype, shape, low, high)

    def _reset(self, tensordict: TensorDictBase | None = None, **kwargs: Any) -> TensorDictBase:
        chosen = None if tensordict is None else tensordict.get("_reset", None)
        if chosen is None:
            seed, self._seed = self._seed, None
            made = self._observed(*start_over(self.pool, seed=seed))
            if self._num_moves:
                self._set_legal({name: made[name].get("action_mask") for name in self.group_map})
            return made
        ids = torch.nonzero(chosen.reshape(-1)).reshape(-1)
        made = self._zero.clone()  # torchrl takes the rows of the environments that are reset
        if len(ids):
            try:
                made[ids] = self._observed(*self.pool.reset(ids.cpu().numpy().astype(np.int32)))
            except EXPLAINED as error:
                explain(self.pool, error)
                raise
        if self._num_moves:
            self._set_legal({name: made[name].get("action_mask") for name in self.group_map}, ids)
        return made

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        actions = {name: tensordict.get((name, "action"), None) for name in self.group_map}
        missing = [name for name, action in actions.items() if action is None]
        if missing:
            raise ActionError(
                f"the tensordict must have an 'action' of each group, got none of {missing}: set it, or use rand_step()"
            )
        try:
            obs, reward, terminated, truncated, info = self.pool.step({k: arrays_of(v) for k, v in actions.items()})
        except EXPLAINED as error:
            explain(self.pool, error)
            raise
        made = self._observed(obs, info)
        for name in self.group_map:
            group, truncations = made[name], info["player_truncated"][name]
            terminations = info["player_terminated"][name] | ~info["player_mask"][name]
            self._set_ends(group, terminations, truncations)
            group.set("reward", self._tensor(reward[name][..., None]))
            group.set("mask", group.get("mask") & ~group.get("done").squeeze(-1))
        if self._num_moves:
            self._set_legal({name: made[name].get("action_mask") for name in self.group_map})
        return self._set_ends(made, terminated, truncated)

    def _set_ends(self, target: TensorDictBase, terminated: Any, truncated: Any) -> TensorDictBase:
        for name, flags in zip(ENDS, (terminated | truncated, terminated, truncated), strict=True):
            target.set(name, self._tensor(flags[..., None]))
        return target

    def _set_legal(self, masks: dict[str, torch.Tensor], ids: Any = None) -> None:
        """Let the action specs draw legal moves of environments, by default all."""
        for name, mask in masks.items():
            legal = self._legal.setdefault(name, torch.ones(mask.shape, dtype=torch.bool, device=mask.device))
            if ids is None:
                legal = self._legal[name] = mask.clone()
            else:
                legal[ids] = mask[ids]
            self.full_action_spec[name, "action"].update_mask(legal)

    def _set_seed(self, seed: int | None) -> None:
        self._seed = None if seed is None else check_seed("seed", seed, self.pool.spec.max_seed, self.pool.num_envs)

    def close(self, *, raise_if_closed: bool = True) -> None:
        """Close the pool; the method may be called again."""
        self.is_closed = True
        self.pool.close()

    def _observed(self, obs: Any, info: dict[str, Any]) -> TensorDictBase:
        """Return a tensordict with the observations and the infos of a batch, and who is present."""
        batch = [len(info["env_id"])]
        made = TensorDict({}, batch_size=batch, device=self.device)
        for name, players in self.group_map.items():
            parts = {"mask": info["player_mask"][name]}
            if self._has_turns:
                moves = np.array(self._players[name]) == info["current_player"][:, None]
                parts["mask"] = parts["mask"] & moves
                if self._num_moves:
                    legal = info.get("legal_action_mask")
                    legal = info[name]["legal_action_mask"] if legal is None else legal[:, None]
                    parts["action_mask"] = legal | ~parts["mask"][..., None]
            if isinstance(obs, dict) and name in obs:
                parts["observation"] = obs[name]
            if name in info:
                own = {k: v for k, v in info[name].items() if k != "legal_action_mask" or not self._num_moves}
                parts |= {"info": own} if own else {}
            made.set(name, self._nest(parts, [*batch, len(players)]))
        for name, spec in self._shared.items():
            nest = info if name == "info" else obs
            made.set(name, self._nest({k: nest[k] for k in spec} if isinstance(spec, Composite) else nest, batch))
        return made

    def _nest(self, nest: Any, batch: list[int]) -> Any:
        """Return the tensordict of a nest, or the tensor of an array."""
        if not isinstance(nest, dict):
            return self._tensor(nest)
        return TensorDict({k: self._nest(v, batch) for k, v in nest.items()}, batch_size=batch, device=self.device)

    def _tensor(self, array: Any) -> torch.Tensor:
        return torch.from_numpy(array).to(self.device)


def legal_moves(spec: Any) -> int:
    """Return the number of moves of a turn-based task that says which are legal; 0 for every other one."""
    field = next((field for field in spec.shown_fields if field.name == LEGAL_ACTION_MASK), None)
    return field.shape[-1] if spec.is_turn_based and field is not None else 0


def arrays_of(actions: Any) -> Any:
    """Return the actions of a group as an array, or as a nest of arrays."""
    if isinstance(actions, TensorDictBase):
        return {k: arrays_of(v) for k, v in actions.items()}
    return actions.cpu().numpy()


def flag(lead: tuple[int, ...]) -> Any:
    """Return the spec of a flag of ends."""
    return Categorical(2, shape=(*lead, 1), dtype=torch.bool)


def array_spec(array: ArraySpec, shape: Any, lead: tuple[int, ...]) -> Any:
    """Return the spec of an array of observations or infos, whose rows have a shape up to that of the array."""
    whole = (*lead, *shape)
    dtype = torch.from_numpy(np.empty(0, array.dtype)).dtype
    if array.dtype.kind == "b":
        return Categorical(2, shape=whole, dtype=dtype)
    low, high = (np.broadcast_to(bound, array.row_shape) for bound in (array.minimum, array.maximum))
    part = tuple(map(slice, shape))
    return bounded(low[part], high[part], whole, dtype)


def action_spec(array: ArraySpec, batch: tuple[int, ...]) -> Any:
    """Return the spec of the actions of a group; integers are int64, as policies return them."""
    whole = (*batch, *array.shape)
    if array.dtype.kind == "b":
        return Categorical(2, shape=whole, dtype=torch.bool)
    low, high = (np.broadcast_to(bound, array.shape) for bound in (array.minimum, array.maximum))
    if array.dtype.kind == "f":
        return bounded(low, high, whole, torch.from_numpy(np.empty(0, array.dtype)).dtype)
    is_plain = not low.any() and (high == high[0]).all()
    if is_plain and high.ndim == 1:
        return Categorical(int(high[0]) + 1, shape=whole, dtype=torch.int64)
    if is_plain and high.ndim == 2:
        return MultiCategorical((high[0].astype(np.int64) + 1).tolist(), shape=whole, dtype=torch.int64)
    return bounded(low, high, whole, torch.int64)


def bounded(low: Any, high: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Return the spec of an array with bounds, or without if one of them is infinite or the bound of the dtype."""
    limits = torch.iinfo(dtype) if not dtype.is_floating_point else None
    if not (np.isfinite(low).all() and np.isfinite(high).all()) or (
        limits is not None and dtype != torch.uint8 and (low == limits.min).any() and (high == limits.max).any()
    ):
        return Unbounded(shape=shape, dtype=dtype)
    bounds = [torch.from_numpy(np.array(bound)).to(dtype).expand(shape) for bound in (low, high)]
    return Bounded(*bounds, shape=shape, dtype=dtype)


def nest_of(specs: dict[str, Any], kind: str, lead: tuple[int, ...]) -> Any:
    """Return the specs whose names begin with a kind, by the rest of the names: a spec, a Composite, or None."""
    flat = {k[len(kind) + 1 :]: v for k, v in specs.items() if k.startswith(kind)}
    if not flat or "" in flat:
        return flat.get("")
    return composite(nested(flat), lead)


def composite(nest: Any, lead: tuple[int, ...]) -> Any:
    """Return the Composite of a nested dict of specs."""
    return Composite({k: composite(v, lead) for k, v in nest.items()}, shape=lead) if isinstance(nest, dict) else nest
