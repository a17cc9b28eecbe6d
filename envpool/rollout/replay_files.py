"""The files of replay buffers: uncompressed .npz archives, whose large arrays are read where they lie in the file."""

from __future__ import annotations

import struct
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from envpool._support.files import replaced
from envpool.errors import StateError

#: Bytes of a local file header of a zip archive, in front of its name and its extra field.
HEADER = 30
#: Least size of an array that is mapped.
MAPPED = 1 << 20
#: Bytes that are read at once to check them.
CHUNK = 1 << 20
#: Exceptions of zipfile and NumPy if bytes of an archive or of the header of an array were changed.
DAMAGES = (
    zipfile.BadZipFile,
    ValueError,
    EOFError,
    IndexError,
    OverflowError,
    NotImplementedError,
    struct.error,
    tokenize.TokenError,
)


def write(path: Path, content: dict[str, Any]) -> None:
    """Write arrays and numbers to a file, which replaces one at its path when it is complete."""
    with replaced(path) as file:
        np.savez(file, **content)


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
    except DAMAGES as error:
        raise StateError(f"{path} is not a saved replay buffer, or is damaged: {error}") from error


def mapped(path: Path, file: Any, info: zipfile.ZipInfo) -> Any:
    """Return an array of an archive."""
    if info.compress_type != zipfile.ZIP_STORED:
        raise StateError(f"{path} is compressed: save a replay buffer with its save()")
    file.seek(info.header_offset)
    header = file.read(HEADER)
    lengths = int.from_bytes(header[26:28], "little"), int.from_bytes(header[28:30], "little")
    begin = info.header_offset + HEADER + sum(lengths)
    check_sum(path, file, begin, info)
    file.seek(begin)
    version = np.lib.format.read_magic(file)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, is_fortran, dtype = read_header(file)
    if is_fortran or dtype.hasobject:
        raise StateError(f"{path} is not a saved replay buffer: {info.filename} has dtype {dtype}")
    size = dtype.itemsize * int(np.prod(shape, dtype=object))
    if size < MAPPED:
        return np.frombuffer(file.read(size), dtype).reshape(shape)
    return np.memmap(path, dtype, "r", file.tell(), shape)


def check_sum(path: Path, file: Any, begin: int, info: zipfile.ZipInfo) -> None:
    """Raise StateError unless the bytes of an array of an archive, from `begin` on, are those that were written."""
    file.seek(begin)
    left, value = info.file_size, 0
    while left and (chunk := file.read(min(left, CHUNK))):
        left, value = left - len(chunk), zlib.crc32(chunk, value)
    if left or value != info.CRC:
        raise StateError(f"{path} is damaged: the checksum of {info.filename} differs")
