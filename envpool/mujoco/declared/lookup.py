"""Objects of a model by name, and errors that name the XML element and list what exists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envpool._support.text import shortened, shown, similar_names
from envpool.mujoco.declared.quantities import Columns, Objects, Quantity

if TYPE_CHECKING:
    from envpool.mujoco.declared.compiler import Compiler

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


def find_object(c: Compiler, kind: str, name: Any) -> int:
    """Return the id of an object, given by its name or its id."""
    names = c.index.names(kind)
    if isinstance(name, bool) or not isinstance(name, (str, int)):
        raise c.error(f"{shown(name)} is not the name or the id of a {kind}")
    if isinstance(name, int):
        if not 0 <= name < len(names):
            raise c.error(f"{c.index.source} has no {kind} {shown(name)}, allowed are 0 to {len(names) - 1}")
        return name
    if name and name in names:
        return names.index(name)
    near = similar_names(name, [n for n in names if n])
    hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
    element = f'<{ELEMENTS[kind]} name="{shortened(name)}">'
    raise c.error(f"{c.index.source} has no {element}; {listed(names)}{hint}")


def many(of: Objects) -> tuple[Any, ...]:
    """Return the names of an argument `of` that is not None."""
    return of if isinstance(of, tuple) else (of,)


def rows_of(c: Compiler, q: Quantity, rows: int) -> list[int]:
    """Return the rows of an array that a quantity names."""
    if q.of is None:
        return list(range(getattr(q, "skip", 0), rows))
    found: list[int] = []
    for name in many(q.of):
        if isinstance(name, int) and not isinstance(name, bool):
            if not 0 <= name < rows:
                raise c.error(f"row {shown(name)} of {q.array} is out of range, {c.index.source} has {rows}")
            found.append(name)
        elif q.kind is None:
            raise c.error(f"the rows of {q.array} have no names, allowed are 0 to {rows - 1}, got {shown(name)}")
        else:
            number = find_object(c, q.kind, name)
            own = getattr(c.index, q.rows)(number) if q.rows else [number]
            if not own:
                hint = '; is mocap="true" missing?' if q.rows == "mocap_rows" else ""
                raise c.error(f'<{q.kind} name="{name}"> has no row in {q.array}{hint}')
            found += own
    return found


def columns_of(c: Compiler, columns: Columns, names: tuple[str, ...], width: int) -> list[int]:
    """Return the columns of an array that a quantity names."""
    found = []
    for column in range(width) if columns is None else many(columns):
        if isinstance(column, str) and column in names:
            found.append(names.index(column))
        elif isinstance(column, int) and not isinstance(column, bool) and 0 <= column < width:
            found.append(column)
        else:
            allowed = ", ".join(map(repr, names)) + " and " if names else ""
            raise c.error(f"columns has {shown(column)}, allowed are {allowed}0 to {width - 1}")
    return found


def places_of(c: Compiler, q: Quantity) -> tuple[int, list[int], bool]:
    """Return the offset of a quantity's array in mjData, the indices of its numbers, and whether it is a scalar."""
    offset, rows, width = c.index.array(q.array)
    skip = getattr(q, "skip", 0)
    if isinstance(skip, bool) or not isinstance(skip, int) or not 0 <= skip <= rows:
        raise c.error(f"skip is {shown(skip)}, allowed are 0 to {rows}")
    columns = getattr(q, "columns", None)
    chosen = columns_of(c, columns, q.column_names, width)
    places = [row * width + column for row in rows_of(c, q, rows) for column in chosen]
    if not places:
        if q.of == ():
            raise c.error("of is (), allowed are None and one or more names or rows")
        raise c.error(f"{c.index.source} has nothing of this kind")
    is_scalar = len(places) == 1 and not isinstance(q.of, tuple) and q.of is not None and not isinstance(columns, tuple)
    return offset, places, is_scalar


def sides_of(c: Compiler, of: Objects) -> set[int]:
    """Return the ids of geoms, given by their names or those of their bodies; all if `of` is None."""
    geoms, bodies = c.index.names("geom"), c.index.names("body")
    if of is None:
        return set(range(len(geoms)))
    found: set[int] = set()
    if of == ():
        raise c.error("() has no geom, so it cannot touch anything; allowed are None and one or more geoms or bodies")
    for name in many(of):
        if isinstance(name, str) and name in bodies and name not in geoms:
            body = bodies.index(name)
            own = {geom for geom in range(len(geoms)) if c.index.body_of_geom(geom) == body}
            if not own:
                raise c.error(f'<body name="{name}"> has no geom, so it cannot touch anything')
            found |= own
        else:
            found.add(find_object(c, "geom", name))
    return found
