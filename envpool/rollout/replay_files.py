"""The files of replay buffers: uncompressed .npz archives, whose large arrays are read where they lie in the file."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from envpool.errors import StateError

#: Bytes of a local file header of a zip archive, in front of its name and its extra field.
HEADER = 30
#: Least size of an array that is mapped.
MAPPED = 1 << 20


def write(path: Path, content: dict[str, Any]) -> None:
    """Write arrays and numbers to a file, under another name that is renamed when everything is on the disk."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            np.savez(file, **content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def read(path: Path) -> dict[str, Any]:
    """Return the arrays of a file, large ones as read-only maps of the file, which take no memory of their own.

    Raises
    ------
    StateError
        The file is damaged.
    """
    try:
        with zipfile.ZipFile(path) as archive, path.open("rb") as file:
            return {info.filename.removesuffix(".npy"): mapped(path, file, info) for info in archive.infolist()}
    except (zipfile.BadZipFile, ValueError, EOFError, IndexError) as error:
        raise StateError(f"{path} is not a saved replay buffer, or is damaged: {error}") from error


def mapped(path: Path, file: Any, info: zipfile.ZipInfo) -> Any:
    """Return an array of an archive."""
    if info.compress_type != zipfile.ZIP_STORED:
        raise StateError(f"{path} is compressed: save a replay buffer with its save()")
    file.seek(info.header_offset)
    header = file.read(HEADER)
    lengths = int.from_bytes(header[26:28], "little"), int.from_bytes(header[28:30], "little")
    file.seek(info.header_offset + HEADER + sum(lengths))
    version = np.lib.format.read_magic(file)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, is_fortran, dtype = read_header(file)
    if is_fortran or dtype.hasobject:
        raise StateError(f"{path} is not a saved replay buffer: {info.filename} has dtype {dtype}")
    size = dtype.itemsize * int(np.prod(shape, dtype=object))
    if size < MAPPED:
        return np.frombuffer(file.read(size), dtype).reshape(shape)
    return np.memmap(path, dtype, "r", file.tell(), shape)
