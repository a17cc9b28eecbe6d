"""The functions that ``pool.xla()`` returns: they call the handlers and return results in the pool's API style."""

from __future__ import annotations

import atexit
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from envpool._core.casts import CastError, fitted
from envpool._support.packages import load_compiled
from envpool.errors import ActionError, ConfigError, EnvIdError, PoolStateError
from envpool.tasks.carried import refuse_objects

bridge: Any = load_compiled(
    "envpool.xla.bridge",
    "In a source tree, `pip install jax==0.10.2` comes first.",
)

#: Name under which the handlers are registered with XLA.
TARGET = "envpool"

for _platform, _handler in bridge.handlers().items():
    jax.ffi.register_ffi_target(TARGET, _handler, platform=_platform)
atexit.register(bridge.stop)

#: Class of a shape with a dtype.
Struct: Any = jax.ShapeDtypeStruct
HANDLE = Struct((8,), np.uint8)


def make_functions(pool: Any) -> tuple[Any, Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    """Return (handle, recv, send, step) of an ``EnvPool``; see ``EnvPool.xla``."""
    if pool.spec.config.players == "rows":
        raise ConfigError(
            "players='rows' returns as many rows as players are present, but the shapes of XLA are fixed: make the "
            "pool with players='grid', whose player_mask says who is present, or players='dict'"
        )
    if pool.spec.config.finished_episodes:
        raise ConfigError(
            "finished_episodes=True adds arrays whose number of rows changes, but the shapes of XLA are fixed: make "
            "the pool without the option; the entries of episode_statistics=True stay"
        )
    refuse_objects(pool.spec.config, "xla()")
    handle, nest, arrays = bridge.connect(pool)
    batch_size = int(pool.config["batch_size"])

    def call(rows: int | None, keys: str, *args: Any) -> Any:
        """Call the handler; `rows` is the number of rows to receive, None if the call does not receive."""
        if np.shape(args[0]) != HANDLE.shape or getattr(args[0], "dtype", None) != HANDLE.dtype:
            raise PoolStateError(
                "handle must be the array that xla() or the call before has returned, uint8 (8,), got "
                f"{getattr(args[0], 'dtype', type(args[0]).__name__)} {np.shape(args[0])}"
            )
        batch = {} if rows is None else {name: batch_of(rows, *array) for name, array in arrays.items()}
        function = jax.ffi.ffi_call(
            TARGET,
            [HANDLE, *batch.values()],
            has_side_effect=True,
            vmap_method="sequential",
            input_output_aliases={0: 0},
        )
        sends = len(args) > 1
        new_handle, *results = function(*args, sends=sends, receives=rows is not None, keys=keys)
        return new_handle if rows is None else (new_handle, fill(nest, dict(zip(batch, results, strict=True))))

    def recv(handle: Any) -> Any:
        """Wait for the next batch; return the next handle and the batch."""
        return call(batch_size, "", handle)

    def send(handle: Any, action: Any, env_id: Any = None) -> Any:
        """Send actions; return the next handle."""
        return call(None, *operands(handle, action, env_id))

    def step(handle: Any, action: Any, env_id: Any = None) -> Any:
        """Send actions and wait for the next batch; return the next handle and the batch."""
        keys, *args = operands(handle, action, env_id)
        ids = ids_of(keys, args)
        return call(batch_size if pool.is_async or ids is None else ids.size, keys, *args)

    return np.frombuffer(handle, np.uint8), recv, send, step


def batch_of(rows: int, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
    """Return shape and dtype of a batch array in JAX, which has 32-bit types only unless 64-bit types are enabled."""
    return Struct((rows, *shape), jax.dtypes.canonicalize_dtype(dtype))


def operands(handle: Any, action: Any, env_id: Any) -> tuple[Any, ...]:
    """Return the keys of a dict of actions ("" if the action is an array), then the arrays of a call that sends."""
    if not isinstance(action, dict):
        arrays = {"action": action} if env_id is None else {"action": action, "env_id": env_id}
        return "", handle, *(operand(name, value) for name, value in arrays.items())
    flat = flatten(action)
    if env_id is not None:
        flat["env_id"] = env_id
    return ",".join(flat), handle, *(operand(name, value) for name, value in flat.items())


def operand(name: str, value: Any) -> Any:
    """Return an action or env ids as an array of JAX.

    JAX that is limited to 32 bits wraps the values of 64-bit NumPy arrays. If one of them would change, an ActionError
    or EnvIdError is raised instead.
    """
    is_numpy = isinstance(value, (np.ndarray, np.generic))
    if is_numpy and (dtype := jax.dtypes.canonicalize_dtype(value.dtype)) != value.dtype:
        try:
            value = fitted(value, dtype)
        except CastError as error:
            if name.endswith("env_id"):
                raise EnvIdError(f"{name} contains {error}; nothing was sent") from None
            raise ActionError(f"action {name!r} contains {error}; nothing was sent") from None
    return jnp.asarray(value)


def ids_of(keys: str, args: list[Any]) -> Any:
    """Return the env ids among the arrays of a call, None if the call has no env ids."""
    names = keys.split(",") if keys else ["action", "env_id"][: len(args) - 1]
    return dict(zip(names, args[1:], strict=True)).get("env_id")


def flatten(nest: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Join the keys of nested dicts with dots."""
    flat: dict[str, Any] = {}
    for key, value in nest.items():
        flat |= flatten(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value}
    return flat


def fill(nest: Any, arrays: dict[str, Any]) -> Any:
    """Return a nest of names in which each name is replaced by its array."""
    if isinstance(nest, str):
        return arrays[nest]
    if isinstance(nest, dict):
        return {key: fill(inner, arrays) for key, inner in nest.items()}
    items = (fill(inner, arrays) for inner in nest)
    return tuple(items) if type(nest) is tuple else type(nest)(*items)
