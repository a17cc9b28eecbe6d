"""Results in memory that an actor shares with a driver on its machine, instead of in Ray's object store.

A message through the object store costs both sides about a millisecond of CPU time, however little it contains. Here,
the actor copies the arrays of a result into a *slot* of a memfd, and its answer is little more than the number of the
slot. The driver maps the file read-only. A slot is used again when the driver says that no array shows it any more;
results that find no slot travel through the object store.

The driver opens the memfd through /proc, where its name has a random token, and asks for slots only if that worked: an
actor on another machine or in another container has no such file. Nothing of this is left in a file system.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import secrets
import weakref
from typing import Any, NamedTuple

import numpy as np

from envpool._support.built import PORTABLE
from envpool._support.descriptors import high_descriptor, map_file

#: The most bytes that an actor shares.
MOST = 1 << 28

#: Results with fewer bytes are part of Ray's answer.
LEAST = 1 << 14

LINE = 64  # bytes: arrays begin at cache lines


class Address(NamedTuple):
    """Where a driver finds the memory of an actor: a path in /proc, and what its link must say."""

    path: str
    name: str


class Request(NamedTuple):
    """The part of a message that concerns the memory of an actor, from a driver that can see it.

    Attributes
    ----------
    slots : list of int
        Slots that no array of the driver shows any more; or those that are still shown, if all others are free.
    are_shown : bool
        Which of the two.
    plan : int
        Number of the last plan that the driver has received; 0 for none.
    """

    slots: list[int]
    are_shown: bool
    plan: int


class Place(NamedTuple):
    """Where an array lies in a slot."""

    offset: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]


class Shared(NamedTuple):
    """A result in a slot.

    Attributes
    ----------
    slot, slot_bytes : int
        The slot, and the size of all slots.
    number : int
        Number of the plan; 0 if it is not used again.
    plan : nest or None
        The result with a `Place` instead of each array; None if the driver has received this plan.
    """

    slot: int
    slot_bytes: int
    number: int
    plan: Any


class Writer:
    """The memory, at the actor."""

    def __init__(self) -> None:
        self._name = f"envpool-{secrets.token_hex(16)}"
        self._fd = -1
        if not PORTABLE:
            self._fd = high_descriptor(os.memfd_create(self._name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING))
            fcntl.fcntl(self._fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)  # a driver may rely on its mapping
        self._bytes: Any = None
        self._slot_bytes = self._count = self._number = 0
        self._plan: Any = None
        self._free: list[int] = []

    def address(self) -> Address:
        """Return where a driver on this machine finds the memory; in a portable build, it finds none."""
        return Address(f"/proc/{os.getpid()}/fd/{self._fd}", f"/memfd:{self._name} (deleted)")

    def note(self, request: Request) -> None:
        """Take note of the slots that can be used again."""
        if request.are_shown:
            self._free = [slot for slot in range(self._count) if slot not in request.slots]
        else:
            self._free += request.slots

    def write(self, result: Any, request: Request) -> Any:
        """Return a `Shared` for a result, or the result itself if it has few bytes or finds no slot."""
        placed: list[tuple[Any, Place]] = []
        plan, size, is_fixed = planned(result, placed, 0)
        slot = self._take(size) if size >= LEAST else None
        if slot is None:
            return result
        start = slot * self._slot_bytes
        for array, place in placed:
            np.ndarray(place.shape, place.dtype, self._bytes, start + place.offset)[...] = array
        if not is_fixed:
            return Shared(slot, self._slot_bytes, 0, plan)
        if plan != self._plan:
            self._plan, self._number = plan, self._number + 1
        return Shared(slot, self._slot_bytes, self._number, None if self._number == request.plan else plan)

    def _take(self, size: int) -> int | None:
        """Return a free slot of at least this many bytes."""
        if self._slot_bytes == 0:
            self._slot_bytes = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
        if size > self._slot_bytes:
            return None
        if not self._free:
            end = (self._count + 1) * self._slot_bytes
            if end > MOST:
                return None
            os.ftruncate(self._fd, end)
            self._bytes = np.frombuffer(map_file(self._fd, end), np.uint8)
            self._free.append(self._count)
            self._count += 1
        return self._free.pop()


class Reader:
    """The memory of one actor, at the driver.

    Parameters
    ----------
    address : Address
        Where it is.

    Raises
    ------
    OSError
        This process cannot see it.
    """

    def __init__(self, address: Address):
        if os.readlink(address.path) != address.name:
            raise FileNotFoundError(address.path)
        self._fd = high_descriptor(os.open(address.path, os.O_RDONLY | os.O_CLOEXEC))
        weakref.finalize(self, os.close, self._fd)
        self._map: Any = None
        self._number, self._plan = 0, None
        self._shown: set[int] = set()
        self._hidden: list[int] = []  # grows at any moment, when the last array that shows a slot is gone
        self._forgets = False

    def forget(self) -> None:
        """Note that answers that were not read until now will never be read."""
        self._forgets = True

    def ticket(self) -> Ticket:
        """Return what the next message needs that asks the actor for a result."""
        hidden = self._hidden[:]
        del self._hidden[: len(hidden)]
        self._shown.difference_update(hidden)
        forgets, self._forgets = self._forgets, False
        return Ticket(self, Request(sorted(self._shown) if forgets else hidden, forgets, self._number), self._plan)

    def read(self, shared: Shared, plan: Any) -> Any:
        """Return the result in a slot as read-only arrays, which keep the slot from being used again."""
        if shared.plan is not None:
            plan = shared.plan
            if shared.number > self._number:
                self._number, self._plan = shared.number, plan
        start, end = shared.slot * shared.slot_bytes, (shared.slot + 1) * shared.slot_bytes
        if self._map is None or end > len(self._map):
            self._map = map_file(self._fd, os.fstat(self._fd).st_size, mmap.PROT_READ)
        whole = np.frombuffer(self._map, np.uint8, end - start, start)
        self._shown.add(shared.slot)
        weakref.finalize(whole, self._hidden.append, shared.slot).atexit = False
        return filled(plan, whole)


class Ticket(NamedTuple):
    """A message that asks an actor for a result.

    Attributes
    ----------
    reader : Reader
        The memory of the actor.
    request : Request
        The argument of the message.
    plan : nest or None
        The plan that the request names.
    """

    reader: Reader
    request: Request
    plan: Any

    def read(self, result: Any) -> Any:
        """Return the result of the answer."""
        return self.reader.read(result, self.plan) if isinstance(result, Shared) else result


def planned(nest: Any, placed: list[tuple[Any, Place]], size: int) -> tuple[Any, int, bool]:
    """Replace the arrays of a nest by their places.

    Parameters
    ----------
    nest : nest
        Arrays, and other objects.
    placed : list
        Gets each array with its place.
    size : int
        Bytes that are taken.

    Returns
    -------
    plan : nest
        The nest with a `Place` instead of each array.
    size : int
        Bytes that are taken with these arrays.
    is_fixed : bool
        True if the plan consists of places only.
    """
    if isinstance(nest, (dict, tuple)):
        parts, are_fixed = [], True
        for value in nest.values() if isinstance(nest, dict) else nest:
            part, size, is_fixed = planned(value, placed, size)
            parts.append(part)
            are_fixed &= is_fixed
        return (dict(zip(nest, parts, strict=True)) if isinstance(nest, dict) else tuple(parts)), size, are_fixed
    if not isinstance(nest, np.ndarray) or nest.dtype.hasobject:
        return nest, size, False
    place = Place(size, nest.dtype, nest.shape)
    placed.append((nest, place))
    return place, -(-(size + nest.nbytes) // LINE) * LINE, True


def filled(plan: Any, whole: Any) -> Any:
    """Return the nest of a plan with the arrays in a slot.

    All of them, and their views, refer to `whole`: NumPy follows bases up to an array whose own base is not an array.
    """
    if isinstance(plan, dict):
        return {key: filled(value, whole) for key, value in plan.items()}
    if isinstance(plan, Place):
        return np.ndarray(plan.shape, plan.dtype, whole, plan.offset)
    return tuple(filled(value, whole) for value in plan) if isinstance(plan, tuple) else plan
