# optimize: -O1
"""Environment definitions as capsules: define() makes one with its field tables, describe() reads any of them."""

import operator
import re
from collections import namedtuple
from numbers import Real

import numpy as np

from cpython.bytes cimport PyBytes_AS_STRING
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.pycapsule cimport PyCapsule_GetDestructor, PyCapsule_GetPointer, PyCapsule_IsValid, PyCapsule_New
from cpython.ref cimport Py_DECREF, Py_INCREF, PyObject
from libc.stdint cimport INT32_MAX, UINT32_MAX, int32_t, int64_t, uint32_t
from libc.string cimport memcpy

from envpool._core.calls cimport field_at, moves_in_turn, num_players
from envpool.env cimport (
    ENVPOOL_ABI_VERSION, ENVPOOL_CAPSULE_NAME, ENVPOOL_DOUBLE_PARAMS, ENVPOOL_MAX_DIMS, ENVPOOL_MAX_FIELDS,
    ENVPOOL_MAX_PLAYERS,
    ENVPOOL_PLAYERS, ENVPOOL_SLOW_SNAPSHOTS, ENVPOOL_TRUNCATION_KEEPS_DISCOUNT, ENVPOOL_TURNS, envpool_env,
    envpool_field,
)

from envpool._support.text import shown
from envpool.errors import ConfigError

cdef extern from "Python.h":
    int PyCapsule_SetContext(object capsule, void* context) except -1
    void* PyCapsule_GetContext(object capsule)

cdef extern from *:
    """
    #include <stddef.h>
    #define EP_REQUIRED_SIZE offsetof(envpool_env, run_many)
    #define EP_FIELD_SIZE (offsetof(envpool_field, num_high) + sizeof(int32_t))
    """
    const size_t EP_REQUIRED_SIZE       # of the members that every definition has
    const size_t EP_FIELD_SIZE          # of the members that every field has

# The most elements of one row of a field, so that no size in bytes overflows.
cdef int64_t MAX_ELEMENTS = <int64_t>1 << 56

# Zeros after a config: what reads the head of a config that has none finds NULL, see envpool_create_records().
cdef size_t CONFIG_PADDING = 16

# The bits of envpool_env.flags that this version knows.
cdef uint32_t KNOWN_FLAGS = (
    ENVPOOL_TRUNCATION_KEEPS_DISCOUNT | ENVPOOL_SLOW_SNAPSHOTS | ENVPOOL_PLAYERS | ENVPOOL_TURNS
    | ENVPOOL_DOUBLE_PARAMS
)

# Indexed by envpool_dtype.
DTYPES = tuple(
    np.dtype(t) for t in (
        np.bool_, np.int8, np.uint8, np.int32, np.int64, np.float32, np.float64, np.int16, np.uint16, np.uint32,
        np.uint64,
    )
)


class Field(namedtuple("Field", ["name", "dtype", "shape", "low", "high"], defaults=[(), None, None])):
    """One array of an observation, an info or an action: an entry of a field table.

    Attributes
    ----------
    name : str
        ``"obs"``, ``"obs:position"``, ``"info:lives"``, ``"action"``; a dot makes a nested name (``"obs:a.b"``).
    dtype : numpy.dtype
        bool, float32, float64, or an integer of 8 to 64 bits with or without a sign.
    shape : tuple of int
        Shape of a row. With a leading -1, the array has one row per player, or one row if the environment has no
        players.
    low, high : float, int, numpy.ndarray or None
        Bounds: one number for all elements, or an array (float64) with one number per element of a row, or of the rows
        of all players, one player after the other; None for no bound.
        Bounds of integers that float64 cannot hold are an int, or an array of integers: the tables of the ABI round
        them, but a capsule that `define` has made keeps them, too.
    """

    __slots__ = ()


# Begins the names of fields that are not handed out: the pool makes other arrays of them, see transforms/scaling.pyx.
RAW_PREFIX = "raw:"
# Names of fields and of actions: parts that are not empty, between dots.
FIELD_NAME = re.compile(rf"({RAW_PREFIX})?(obs|(obs|info):[^.:\0]+(\.[^.:\0]+)*)")
ACTION_NAME = re.compile(r"action|(action|players)(\.[^.:\0]+)+")
# The arrays that a pool has besides those of an env, in any API style and under any options.
POOL_FIELDS = tuple(
    f"info:{name}" for name in (
        "env_id", "players.env_id", "players.id", "player_mask", "player_terminated", "player_truncated",
        "elapsed_step", "error", "_error", "episode", "_episode", "game", "_game", "finished", "final", "final_obs",
        "_final_obs", "final_info", "_final_info",
    )
)
POOL_ACTIONS = ("env_id", "players.env_id", "players.id")
# The fields of envs whose players move in turn: who moves next, and which moves are legal.
CURRENT_PLAYER = "info:current_player"
LEGAL_ACTION_MASK = "info:legal_action_mask"


class Description(
    namedtuple(
        "Description",
        [
            "name", "fields", "actions", "frame_size", "params", "step_time", "tracking_camera", "num_players",
            "is_turn_based",
        ],
    )
):
    """Declarations of an environment definition.

    Attributes
    ----------
    name : str
        Name of the environment.
    fields, actions, params : tuple of Field
        The tables of observations and infos, of actions, and of parameters.
    frame_size : tuple of int or None
        (height, width) of a frame in pixels; None if the definition has no renderer.
    step_time : float or None
        Simulated seconds of a step, as `define` was given.
    tracking_camera : int
        Number of the camera that follows the robot, as `define` was given; -1 if there is none.
    num_players : int
        Places for players in each environment; 0 if it has none.
    is_turn_based : bool
        Whether the players move in turn.
    """

    __slots__ = ()


cdef const envpool_env* env_header(object capsule, size_t size) except NULL:
    """Return the struct behind a capsule after checking that it has this ABI version and at least this size."""
    cdef const envpool_env* env
    if not PyCapsule_IsValid(capsule, ENVPOOL_CAPSULE_NAME):
        raise TypeError(f"env must be a PyCapsule named {ENVPOOL_CAPSULE_NAME.decode()!r}, got {capsule!r}")
    env = <const envpool_env*>PyCapsule_GetPointer(capsule, ENVPOOL_CAPSULE_NAME)
    if env.abi_version != ENVPOOL_ABI_VERSION or env.struct_size < size:
        remedy = "upgrade envpool, or " if env.abi_version > ENVPOOL_ABI_VERSION else ""
        raise ImportError(
            f"the environment was built for version {env.abi_version} of the envpool ABI ({env.struct_size} bytes), "
            f"but this envpool has version {ENVPOOL_ABI_VERSION} ({sizeof(envpool_env)} bytes): {remedy}rebuild it "
            "against envpool.get_include()"
        )
    return env


cdef const envpool_env* env_of(object capsule) except NULL:
    """Return the struct behind a capsule that `upgrade_capsule` has returned, after checking its members."""
    cdef const envpool_env* env = env_header(capsule, sizeof(envpool_env))
    cdef uint32_t unknown = env.flags & env.required_flags & ~KNOWN_FLAGS
    name = env.name.decode() if env.name != NULL else "?"
    if unknown:
        raise ImportError(
            f"env {name} requires flags {unknown:#x}, which this version of envpool does not know: upgrade envpool"
        )
    if not 0 <= env.max_num_players <= (ENVPOOL_MAX_PLAYERS if env.flags & ENVPOOL_PLAYERS else 1):
        raise ConfigError(
            f"env {name}: max_num_players must be 0 or 1 without the flag ENVPOOL_PLAYERS, and 1 to "
            f"{ENVPOOL_MAX_PLAYERS} with it, got {env.max_num_players}"
        )
    if env.flags & ENVPOOL_PLAYERS and (env.max_num_players < 1 or not env.required_flags & ENVPOOL_PLAYERS):
        raise ConfigError(
            f"env {name}: with the flag ENVPOOL_PLAYERS, required_flags must have it, too, and max_num_players must be "
            f"at least 1, got {env.max_num_players}"
        )
    if env.flags & ENVPOOL_TURNS and not env.flags & env.required_flags & ENVPOOL_PLAYERS:
        raise ConfigError(f"env {name}: turns need players: pass max_num_players to define()")
    if env.flags & ENVPOOL_TURNS and not env.required_flags & ENVPOOL_TURNS:
        raise ConfigError(f"env {name}: with the flag ENVPOOL_TURNS, required_flags must have it, too")
    if env.field_size < EP_FIELD_SIZE or env.field_size % sizeof(void*):
        raise ConfigError(
            f"env {name}: field_size must be sizeof(envpool_field), at least {EP_FIELD_SIZE} bytes, got "
            f"{env.field_size}: set it, or call envpool_env_init()"
        )
    if (env.create == NULL or env.destroy == NULL or env.seed_many == NULL or env.step_many == NULL
            or env.write_many == NULL):
        raise ConfigError(
            f"env {name}: create, destroy, seed_many, step_many and write_many are required, but at least one is NULL"
        )
    if env.name == NULL or env.fields == NULL or env.actions == NULL:
        raise ConfigError(f"env {name}: name, fields and actions are required, but at least one is NULL")
    if env.render_many != NULL and (env.frame_height < 1 or env.frame_width < 1):
        raise ConfigError(
            f"env {name}: with render_many, frame_height and frame_width must be at least 1, got {env.frame_height} "
            f"and {env.frame_width}"
        )
    num_missing = (
        (env.state_size == NULL) + (env.get_state == NULL) + (env.set_state == NULL) + (env.copy_state == NULL)
    )
    if num_missing not in (0, 4):
        raise ConfigError(
            f"env {name}: state_size, get_state, set_state and copy_state must all be given, or all be NULL, but "
            "only some of them are NULL"
        )
    if not 1 <= env.num_fields <= ENVPOOL_MAX_FIELDS or not 1 <= env.num_actions <= ENVPOOL_MAX_FIELDS:
        raise ConfigError(
            f"env {name}: num_fields and num_actions must be between 1 and {ENVPOOL_MAX_FIELDS}, got {env.num_fields} "
            f"and {env.num_actions}"
        )
    if not 0 <= env.num_params <= ENVPOOL_MAX_FIELDS:
        raise ConfigError(
            f"env {name}: num_params must be between 0 and {ENVPOOL_MAX_FIELDS}, got {env.num_params}"
        )
    if env.num_params and (env.params == NULL or env.get_params == NULL or env.set_params == NULL):
        raise ConfigError(
            f"env {name}: with num_params={env.num_params}, params, get_params and set_params are required, but at "
            "least one is NULL"
        )
    return env


cdef object bounds(const double* values, int32_t n):
    if values == NULL or n == 0:
        return None
    return values[0] if n == 1 else np.array([values[i] for i in range(n)])


cdef object read_field(str env, const envpool_field* f, tuple exact, int32_t players):
    """Returns an entry of a table of an env with so many `players`, 0 for none; `exact` are its bounds, None for those
    that the entry has itself."""
    if f.name == NULL:
        raise ConfigError(f"env {env}: every field must have a name, but the name of one field is NULL")
    name = f.name.decode()
    if not 0 <= f.dtype < len(DTYPES):
        raise ConfigError(f"env {env}: the dtype of field {name!r} must be a value of envpool_dtype, got {f.dtype}")
    if not 0 <= f.ndim <= ENVPOOL_MAX_DIMS:
        raise ConfigError(f"env {env}: ndim of field {name!r} must be between 0 and {ENVPOOL_MAX_DIMS}, got {f.ndim}")
    shape = tuple(f.shape[d] for d in range(f.ndim))
    if any(s < 1 for s in shape[1:]) or (shape and shape[0] < 1 and shape[0] != -1):
        raise ConfigError(
            f"env {env}: sizes in the shape of field {name!r} must be at least 1, or -1 for the first, got {shape}"
        )
    size = int(np.prod([s for s in shape if s > 0], dtype=object))
    whole = size * players if players and -1 in shape else size
    if whole > MAX_ELEMENTS:
        raise ConfigError(
            f"env {env}: a row of field {name!r} must have at most {MAX_ELEMENTS} elements, got the shape {shape}"
        )
    for bound, n, is_null in (("low", f.num_low, f.low == NULL), ("high", f.num_high, f.high == NULL)):
        if n not in (0, 1, size, whole):
            counts = f"{size}" if size == whole else f"{size}, or {whole} for all players"
            raise ConfigError(
                f"env {env}: field {name!r} must have 0 or 1 bounds or one per element ({counts}), got {n}"
            )
        if n and is_null:
            raise ConfigError(
                f"env {env}: field {name!r} has num_{bound}={n}, but {bound} is NULL: point it to the bounds, or set "
                f"num_{bound} to 0"
            )
    low, high = exact
    return Field(
        name,
        DTYPES[f.dtype],
        shape,
        bounds(f.low, f.num_low) if low is None else low,
        bounds(f.high, f.num_high) if high is None else high,
    )


cdef DefinitionMemory memory_of(capsule):
    """Returns what `define` keeps of a capsule besides the members of the ABI; None if it has not made the capsule."""
    if PyCapsule_GetDestructor(capsule) != free_capsule:
        return None
    return <DefinitionMemory>(<list>PyCapsule_GetContext(capsule))[0]


cdef tuple read_table(capsule, const envpool_env* env, const envpool_field* table, int32_t count, str which):
    """Returns the entries of a table of a capsule: "fields", "actions" or "params"."""
    cdef DefinitionMemory memory = memory_of(capsule)
    exact = {} if memory is None else memory.exact
    name = env.name.decode()
    players = num_players(env)
    return tuple(
        read_field(name, field_at(env, table, i), exact.get((which, i), (None, None)), players) for i in range(count)
    )


def describe(capsule):
    """Return what an environment definition declares.

    Parameters
    ----------
    capsule : PyCapsule
        An environment definition, see ``include/envpool/env.h``.

    Returns
    -------
    Description
        Its name, tables, sizes and players.

    Raises
    ------
    TypeError
        `capsule` is not the capsule of an environment definition.
    ImportError
        The definition was built for another version of the ABI, or needs a later version of envpool.
    ValueError
        The ABI does not allow a member of the definition.
    """
    capsule = upgrade_capsule(capsule)
    cdef const envpool_env* env = env_of(capsule)
    cdef DefinitionMemory memory = memory_of(capsule)
    name = env.name.decode()
    fields = read_table(capsule, env, env.fields, env.num_fields, "fields")
    actions = read_table(capsule, env, env.actions, env.num_actions, "actions")
    params = read_table(capsule, env, env.params, env.num_params, "params")
    check_names(name, fields, actions, params)
    for f in params:
        if -1 in f.shape:
            raise ConfigError(f"env {name}: the shape of parameter {f.name!r} must not have a player dimension")
        if env.flags & ENVPOOL_DOUBLE_PARAMS and (f.dtype != np.float64 or f.shape):
            raise ConfigError(
                f"env {name}: parameter {f.name!r} must be a float64 with the shape (), since envpool_with_params() "
                f"reads doubles, got {f.dtype} and {f.shape}: write its default as a float, such as Param(10.0), or "
                "set get_params and set_params of your own instead"
            )
    frame_size = (env.frame_height, env.frame_width) if env.render_many != NULL else None
    step_time, tracking_camera = (None, -1) if memory is None else (memory.step_time, memory.tracking_camera)
    if moves_in_turn(env):
        check_turns(name, {f.name: f for f in fields}, actions)
    return Description(
        name, fields, actions, frame_size, params, step_time, tracking_camera, num_players(env), moves_in_turn(env)
    )


cdef int check_names(str env, fields, actions, params) except -1:
    """Raises ValueError unless each name in the tables of an env is allowed, and that of one array only."""
    tables = (
        ("field", fields, POOL_FIELDS, FIELD_NAME, "'obs', 'obs:...' or 'info:...'"),
        ("action", actions, POOL_ACTIONS, ACTION_NAME, "'action', 'action.a' or 'players.a'"),
        ("parameter", params, (), None, ""),
    )
    for what, table, of_pool, allowed, forms in tables:
        whole, begun = {}, {}           # names by their parts, and a name that begins with these parts
        for name in (*of_pool, *(f.name for f in table)):
            parts = tuple(re.split("[.:]", name)) if allowed is not None else (name,)
            heads = [parts[:k] for k in range(1, len(parts) + 1)]
            other = begun.get(parts) or next((whole[head] for head in heads if head in whole), None)
            if name not in of_pool and allowed is not None and allowed.fullmatch(name) is None:
                raise ConfigError(
                    f"env {env}: {what} {name!r} must be named {forms}, with a name before and after each dot"
                )
            if other in of_pool:
                raise ConfigError(f"env {env}: {what} {name!r} must have another name, since the pool has {other!r}")
            if other is not None:
                raise ConfigError(
                    f"env {env}: the names of {what}s must differ, and none may contain another, got {other!r} and "
                    f"{name!r}: rename one of them"
                )
            whole[parts] = name
            for head in heads:
                begun.setdefault(head, name)
    if not any(f.name.removeprefix(RAW_PREFIX).startswith("obs") for f in fields):
        raise ConfigError(f"env {env}: one field or more must be named 'obs' or 'obs:...': add an observation")
    return 0


cdef int check_turns(str env, dict fields, tuple actions) except -1:
    """Raises ValueError unless the tables of an env whose players move in turn are those of such an env."""
    current, mask = fields.get(CURRENT_PLAYER), fields.get(LEGAL_ACTION_MASK)
    if current is None or current.dtype != np.int32 or current.shape != ():
        raise ConfigError(
            f"env {env}: with turns, there must be a field {CURRENT_PLAYER!r} of dtype int32 and shape ()"
        )
    for f in actions:
        if -1 in f.shape:
            raise ConfigError(
                f"env {env}: with turns, an action is that of the player whose turn it is, so the shape of {f.name!r} "
                f"must not begin with -1, got {f.shape}"
            )
    if mask is None:
        return 0
    sizes = [s for s in mask.shape if s != -1]
    if mask.dtype != np.bool_ or len(sizes) != 1:
        raise ConfigError(
            f"env {env}: {LEGAL_ACTION_MASK!r} must have the dtype bool and the shape (A,) or (-1, A), got "
            f"{mask.dtype} and {mask.shape}"
        )
    last = sizes[0] - 1
    if len(actions) != 1 or actions[0].shape != () or actions[0].dtype not in (np.int32, np.int64) or (
            actions[0].low, actions[0].high) != (0, last):
        raise ConfigError(
            f"env {env}: with {LEGAL_ACTION_MASK!r} of {last + 1} actions, there must be one action, of dtype int32 or "
            f"int64, with the shape () and the bounds 0 and {last}"
        )
    return 0


# ---- making a capsule ------------------------------------------------------------------------------------------------

cdef object checked_table(str which, table):
    """Returns the entries of a table with their dtypes and shapes in normal form, or raises TypeError or ValueError."""
    if not isinstance(table, (list, tuple)) or not all(isinstance(f, Field) for f in table):
        raise TypeError(f"{which} must be a list of Field, got {shown(table)}")
    return [checked_field(f) for f in table]


cdef object checked_field(f):
    if not isinstance(f.name, str) or not f.name.isprintable():
        raise TypeError(f"the name of a field must be a printable str, got {shown(f.name)}")
    where = f"field {f.name!r}"
    try:
        dtype = None if f.dtype is None else np.dtype(f.dtype)
    except TypeError:
        dtype = None
    if dtype is None or dtype not in DTYPES:
        raise ConfigError(
            f"{where}: dtype must be one of {', '.join(map(str, DTYPES))}, got "
            f"{shown(f.dtype) if dtype is None else dtype}"
        )
    try:
        shape = tuple(map(operator.index, f.shape))
    except TypeError:
        raise TypeError(f"{where}: shape must be a tuple of integers, got {shown(f.shape)}") from None
    if len(shape) > ENVPOOL_MAX_DIMS:
        raise ConfigError(f"{where}: shape must have at most {ENVPOOL_MAX_DIMS} dimensions, got {shape}")
    if any(abs(size) > MAX_ELEMENTS for size in shape):
        raise ConfigError(f"{where}: sizes in the shape must be at most {MAX_ELEMENTS}, got {shown(shape)}")
    low, high = checked_bound(where, "low", f.low, dtype), checked_bound(where, "high", f.high, dtype)
    if low is not None and high is not None and (low.size == high.size or 1 in (low.size, high.size)):
        if (low > high).any():
            raise ConfigError(f"{where}: low must be at most high, got {shown(f.low)} and {shown(f.high)}")
    return f._replace(dtype=dtype, shape=shape)


cdef object checked_bound(str where, str which, value, dtype):
    """Returns a bound as an array of numbers with one dimension, None for None."""
    if value is None:
        return None
    try:
        given = np.ravel(value)
        numbers = given.astype(np.float64) if given.size and given.dtype.kind in "biufO" else None
    except (TypeError, ValueError, OverflowError):
        numbers = None
    if numbers is None or np.isnan(numbers).any():
        raise ConfigError(f"{where}: {which} must be None, or numbers other than NaN, got {shown(value)}")
    if dtype.kind == "f":
        return given
    least, most = (0, 1) if dtype.kind == "b" else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
    # A table of the ABI has doubles, to which the limits of 64 bits are rounded.
    limit = float if given.dtype.kind == "f" else int
    if not limit(least) <= given.min() <= given.max() <= limit(most) or (numbers != np.floor(numbers)).any():
        raise ConfigError(f"{where}: {which} must be None, or integers from {least} to {most}, got {shown(value)}")
    return given


cdef object checked_size(str name, value, int64_t low, int64_t high):
    """Returns an integer, or raises TypeError or ValueError."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {shown(value)}") from None
    if not low <= number <= high:
        raise ConfigError(f"{name} must be between {low} and {high}, got {shown(value)}")
    return number


cdef void fill_field(envpool_field* out, f, list keep):
    """Fill one entry of a table; append the objects that hold its name and bounds to `keep`."""
    name = f.name.encode()
    keep.append(name)
    out.name = PyBytes_AS_STRING(name)
    out.dtype = DTYPES.index(f.dtype)
    out.ndim = len(f.shape)
    for d in range(out.ndim):
        out.shape[d] = f.shape[d]
    out.low = fill_bound(f.low, &out.num_low, keep)
    out.high = fill_bound(f.high, &out.num_high, keep)


cdef const double* fill_bound(value, int32_t* n, list keep):
    n[0] = 0
    if value is None:
        return NULL
    data = np.ascontiguousarray(value, np.float64).ravel().tobytes()
    keep.append(data)
    n[0] = <int32_t>(len(data) // sizeof(double))
    return <const double*>PyBytes_AS_STRING(data)


cdef object exact_bound(value, dtype):
    """Returns a bound of integers that float64 cannot hold, as an int or an array of 64-bit integers; else None."""
    if value is None or dtype.kind not in "iu":
        return None
    given = np.asarray(value)
    if given.dtype.kind not in "iu" or not any(abs(int(v)) > 2**53 for v in given.flat):
        return None
    return given.ravel().copy() if given.ndim else int(value)


cdef void free_capsule(object capsule) noexcept:
    cdef PyObject* keep = <PyObject*>PyCapsule_GetContext(capsule)
    if keep != NULL:
        Py_DECREF(<object>keep)


def define(template, fields, actions, config=b"", *, params=(), name=None, keep=None, flags=0,
           frame_size=None, step_time=None, tracking_camera=None, max_num_players=None, turns=False):
    """Return an environment definition with the functions of a template and field tables and a config of its own.

    Parameters
    ----------
    template : PyCapsule
        An environment definition, whose functions, name, flags and frame size are used; its tables and config are not.
    fields, actions : sequence of Field
        The field tables.
    config : bytes
        The config, which is copied; ``create`` gets a pointer to the copy, aligned to 16 bytes. Empty by default.
    params : sequence of Field
        The table of parameters; empty by default, even if the template has ``get_params`` and ``set_params``.
    name : str, optional
        Name of the new definition; by default the template's.
    keep : object, optional
        An object that `config` points into; it lives as long as the capsule.
    flags : int
        Bits of ``envpool_env.flags`` to set in addition to the template's, and to require of the pool. Default 0.
    frame_size : (int, int), optional
        Height and width of a frame in pixels; by default the template's.
    step_time : float, optional
        Simulated time of a step, in seconds; by default the template's. It determines the frame rate of real time.
    tracking_camera : int, optional
        Number of the camera that follows the robot, or -1 if there is none; by default the template's.
    max_num_players : int, optional
        Places for players, at least 1: the environment has players, see ``ENVPOOL_PLAYERS``. By default the template's.
    turns : bool
        If True, the players move in turn, see ``ENVPOOL_TURNS``: an action is that of the player whose turn it is.

    Returns
    -------
    PyCapsule
        The new definition. The capsule owns its tables and its config.

    Raises
    ------
    TypeError, ImportError
        As `describe`, for the template.
        Or another argument has a wrong type.
    ValueError
        A name, a dtype, a shape or a bound of a field, or the value of another argument, is not allowed.
    """
    cdef const envpool_env* source = env_header(template, EP_REQUIRED_SIZE)
    fields, actions = checked_table("fields", fields), checked_table("actions", actions)
    params = checked_table("params", params)
    if not isinstance(config, bytes):
        raise TypeError(f"config must be bytes, got {shown(config)}: envpool_config_bytes() makes them of a struct")
    if not isinstance(name, (str, type(None))):
        raise TypeError(f"name must be a str or None, got {shown(name)}")
    if not isinstance(step_time, (Real, type(None))):
        raise TypeError(f"step_time must be a number of seconds or None, got {shown(step_time)}")
    if tracking_camera is not None:
        tracking_camera = checked_size("tracking_camera", tracking_camera, -1, INT32_MAX)
    if max_num_players is not None:
        max_num_players = checked_size("max_num_players", max_num_players, 1, ENVPOOL_MAX_PLAYERS)
    if frame_size is not None:
        if not isinstance(frame_size, (list, tuple)) or len(frame_size) != 2:
            raise TypeError(f"frame_size must be (height, width) or None, got {shown(frame_size)}")
        frame_size = [checked_size(f"frame_size[{k}]", size, 1, INT32_MAX) for k, size in enumerate(frame_size)]
    cdef uint32_t bits = checked_size("flags", flags, 0, UINT32_MAX)
    cdef size_t num_entries = len(fields) + len(actions) + len(params)
    cdef size_t table_size = sizeof(envpool_env) + num_entries * sizeof(envpool_field)
    cdef DefinitionMemory memory = DefinitionMemory(table_size, len(config))
    cdef envpool_env* env = <envpool_env*>memory.tables
    cdef envpool_field* entries = <envpool_field*>(env + 1)
    cdef Py_ssize_t i
    owned = [memory, template, keep]
    memory.take_over(memory_of(template), step_time, tracking_camera)
    copy_known(env, source)
    memcpy(memory.config, PyBytes_AS_STRING(config), len(config))
    for i, f in enumerate((*fields, *actions, *params)):
        fill_field(&entries[i], f, owned)
    for which, table in (("fields", fields), ("actions", actions), ("params", params)):
        for i, f in enumerate(table):
            exact = exact_bound(f.low, f.dtype), exact_bound(f.high, f.dtype)
            if exact[0] is not None or exact[1] is not None:
                memory.exact[which, i] = exact
    if name is not None:
        encoded = name.encode()
        owned.append(encoded)
        env.name = PyBytes_AS_STRING(encoded)
    env.field_size = sizeof(envpool_field)
    env.fields = entries
    env.num_fields = <int32_t>len(fields)
    env.actions = entries + len(fields)
    env.num_actions = <int32_t>len(actions)
    env.params = env.actions + len(actions)
    env.num_params = <int32_t>len(params)
    env.config = memory.config
    env.flags |= bits
    env.required_flags |= bits
    if max_num_players is not None:
        env.max_num_players = max_num_players
        env.flags |= ENVPOOL_PLAYERS
        env.required_flags |= ENVPOOL_PLAYERS
    if turns:
        env.flags |= ENVPOOL_TURNS
        env.required_flags |= ENVPOOL_TURNS
    if frame_size is not None:
        env.frame_height, env.frame_width = frame_size
    return new_capsule(env, owned)


def upgrade_capsule(capsule):
    """Return the capsule of an environment definition that has every member which this version of the ABI knows.

    Parameters
    ----------
    capsule : PyCapsule
        An environment definition, possibly built against an earlier header of the same ABI version.

    Returns
    -------
    PyCapsule
        `capsule` itself if it has all members, otherwise a copy in which the missing members are zero.

    Raises
    ------
    TypeError, ImportError
        As `describe`.
    """
    cdef const envpool_env* source = env_header(capsule, EP_REQUIRED_SIZE)
    cdef DefinitionMemory memory
    if source.struct_size >= sizeof(envpool_env):
        return capsule
    memory = DefinitionMemory(sizeof(envpool_env), 0)
    copy_known(<envpool_env*>memory.tables, source)
    return new_capsule(<envpool_env*>memory.tables, [memory, capsule])


cdef void copy_known(envpool_env* env, const envpool_env* source) noexcept:
    """Copy the members that both versions have; the others stay zero."""
    memcpy(env, source, min(<size_t>source.struct_size, sizeof(envpool_env)))
    env.struct_size = sizeof(envpool_env)


cdef object new_capsule(envpool_env* env, list owned):
    capsule = PyCapsule_New(env, ENVPOOL_CAPSULE_NAME, free_capsule)
    Py_INCREF(owned)
    PyCapsule_SetContext(capsule, <PyObject*>owned)
    return capsule


cdef class DefinitionMemory:
    """Zeroed memory of one environment definition; it lives as long as the object."""

    cdef void* tables                   # the envpool_env, followed by its field tables
    cdef void* config
    cdef dict exact                     # by name of a table and index: bounds that float64 cannot hold, see Field
    cdef object step_time               # seconds, or None
    cdef object tracking_camera         # number of a camera, or -1

    def __cinit__(self, size_t tables, size_t config):
        self.exact = {}
        self.tracking_camera = -1
        self.tables = PyMem_Calloc(1, tables)
        self.config = PyMem_Calloc(1, config + CONFIG_PADDING)
        if self.tables == NULL or self.config == NULL:
            raise MemoryError

    def __dealloc__(self):
        PyMem_Free(self.tables)
        PyMem_Free(self.config)

    cdef void take_over(self, DefinitionMemory other, step_time, tracking_camera):
        """Set the arguments of `define` of these names; None stands for the value of another definition."""
        if other is not None:
            self.step_time, self.tracking_camera = other.step_time, other.tracking_camera
        if step_time is not None:
            self.step_time = step_time
        if tracking_camera is not None:
            self.tracking_camera = tracking_camera
