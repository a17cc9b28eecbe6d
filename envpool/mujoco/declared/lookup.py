"""Objects of a model by name, and where their numbers are; errors name the XML element and list what exists."""

from __future__ import annotations

from typing import Any

from envpool._support.text import shortened, shown, similar_names
from envpool.errors import ConfigError
from envpool.mujoco.declared.builder import Builder
from envpool.mujoco.declared.expressions import Item
from envpool.mujoco.declared.quantities import Columns, Objects, Quantity

#: The XML elements that declare the objects of a kind.
ELEMENTS = {
    "body": "body",
    "joint": "joint",
    "geom": "geom",
    "site": "site",
    "tendon": "tendon",
    "actuator": "actuator",
    "sensor": "sensor",
    "keyframe": "key",
}

#: Most names in an error text.
MOST_NAMES = 20


def listed(names: list[str]) -> str:
    """Return the names that objects have, for error texts."""
    given = [repr(name) for name in names if name]
    if not given:
        return f"none of its {len(names)} has a name" if names else "it has none"
    more = f" and {len(given) - MOST_NAMES} more" if len(given) > MOST_NAMES else ""
    return f"it has {', '.join(given[:MOST_NAMES])}{more}"


def out_of_range(b: Builder, what: str, given: Any, count: int) -> ConfigError:
    """Return the error of an index that is not below a count."""
    if not count:
        return b.error(f"{what} is {shown(given)}, but {b.index.source} has none")
    return b.error(f"{what} must be between 0 and {count - 1}, got {shown(given)}")


def find_object(b: Builder, kind: str, name: Any) -> int:
    """Return the id of an object, given by its name or its id."""
    names = b.index.names(kind)
    if isinstance(name, bool) or not isinstance(name, (str, int)):
        raise b.error(f"{kind} must be a name or an id, got {shown(name)}")
    if isinstance(name, int):
        if not 0 <= name < len(names):
            raise out_of_range(b, f"the id of {kind}", name, len(names))
        return name
    if name and name in names:
        return names.index(name)
    near = similar_names(name, [n for n in names if n])
    hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
    element = f'<{ELEMENTS[kind]} name="{shortened(name)}">'
    raise b.error(f"{b.index.source} has no {element}; {listed(names)}{hint}")


def many(of: Objects) -> tuple[Any, ...]:
    """Return the names of an argument `of` that is not None."""
    return of if isinstance(of, tuple) else (of,)


def rows_of(b: Builder, q: Quantity, rows: int) -> list[int]:
    """Return the rows of an array that a quantity names."""
    if q.of is None:
        return list(range(getattr(q, "skip", 0), rows))
    found: list[int] = []
    for name in many(q.of):
        if isinstance(name, int) and not isinstance(name, bool):
            if not 0 <= name < rows:
                raise out_of_range(b, f"a row of {q.array}", name, rows)
            found.append(name)
        elif q.kind is None:
            raise b.error(f"a row of {q.array} has no name: it must be given by its index, got {shown(name)}")
        else:
            number = find_object(b, q.kind, name)
            own = getattr(b.index, q.rows)(number) if q.rows else [number]
            if not own:
                hint = '; is mocap="true" missing?' if q.rows == "mocap_rows" else ""
                raise b.error(f'<{q.kind} name="{name}"> has no row in {q.array}{hint}')
            found += own
    return found


def columns_of(b: Builder, q: Quantity, columns: Columns, width: int) -> list[int]:
    """Return the columns of an array that a quantity names."""
    found, names = [], q.column_names
    for column in range(width) if columns is None else many(columns):
        if isinstance(column, str) and column in names:
            found.append(names.index(column))
        elif isinstance(column, int) and not isinstance(column, bool) and 0 <= column < width:
            found.append(column)
        else:
            allowed = ", ".join(map(repr, names)) + " or " if names else ""
            raise b.error(f"a column of {q.array} must be {allowed}0 to {width - 1}, got {shown(column)}")
    return found


def places_of(b: Builder, q: Quantity) -> tuple[int, list[int], bool]:
    """Return the offset of a quantity's array in mjData, the indices of its numbers, and whether it is a scalar."""
    offset, rows, width = b.index.array(q.array)
    skip = getattr(q, "skip", 0)
    if isinstance(skip, bool) or not isinstance(skip, int) or not 0 <= skip <= rows:
        raise b.error(f"skip must be an integer between 0 and {rows}, got {shown(skip)}")
    if skip and q.of is not None:
        raise b.error(f"skip must be 0 where `of` names objects, got skip={skip} and of={shown(q.of)}")
    columns = getattr(q, "columns", None)
    chosen = columns_of(b, q, columns, width)
    places = [row * width + column for row in rows_of(b, q, rows) for column in chosen]
    if not places:
        if q.of == ():
            raise b.error("`of` must be None or name at least one object or row, got ()")
        raise b.error(f"{b.index.source} has nothing of this kind")
    is_scalar = len(places) == 1 and not isinstance(q.of, tuple) and q.of is not None and not isinstance(columns, tuple)
    return offset, places, is_scalar


def sides_of(b: Builder, of: Objects) -> set[int]:
    """Return the ids of geoms, given by their names or those of their bodies; all if `of` is None."""
    geoms, bodies = b.index.names("geom"), b.index.names("body")
    if of is None:
        return set(range(len(geoms)))
    found: set[int] = set()
    if of == ():
        raise b.error("`of` and `other` must be None or name a geom or a body, got ()")
    for name in many(of):
        if isinstance(name, str) and name in bodies and name not in geoms:
            body = bodies.index(name)
            own = {geom for geom in range(len(geoms)) if b.index.body_of_geom(geom) == body}
            if not own:
                raise b.error(f'<body name="{name}"> has no geom, so it cannot touch anything')
            found |= own
        else:
            found.add(find_object(b, "geom", name))
    return found


def limited_joints(b: Builder, of: Objects) -> list[int]:
    """Return the ids of joints, which must be limited slide or hinge joints; of all such joints if `of` is None."""
    names = b.index.names("joint")
    if of is None:
        found = [k for k in range(len(names)) if b.index.joint_range(k) is not None]
        if not found:
            raise b.error(f"{b.index.source} has no slide or hinge <joint> with a range")
        return found
    found = [find_object(b, "joint", name) for name in many(of)]
    if not found:
        raise b.error("`of` must be None or name a joint, got ()")
    for joint in found:
        if b.index.joint_range(joint) is None:
            raise b.error(f'<joint name="{names[joint]}"> is not a slide or hinge joint with a range')
    return found


def range_of(b: Builder, item: Item, n: int) -> range:
    """Return the indices of the parts that an item takes of n numbers."""
    if item.is_scalar:
        assert item.start is not None
        if not -n <= item.start < n:
            raise b.error(f"the index of {shown(item.value)} must be between {-n} and {n - 1}, got {shown(item.start)}")
        return range(item.start % n, item.start % n + 1)
    found = range(n)[item.start : item.stop]
    if not found:
        raise b.error(f"{shown(item)} must not be empty, but {shown(item.value)} has {n} numbers")
    return found
