"""Files in memory, and the temporary files of a portable build."""

import mmap
import os

import pytest

from envpool._support import memory_files
from envpool._support.descriptors import map_file


@pytest.mark.parametrize("portable", [False, True])
def test_a_file_has_no_name_and_can_be_mapped_and_resized(portable, monkeypatch, tmp_path):
    monkeypatch.setattr(memory_files, "PORTABLE", portable)
    monkeypatch.setattr(memory_files.tempfile, "tempdir", str(tmp_path))
    file = memory_files.memory_file("a")
    try:
        assert file > 2 and not os.get_inheritable(file) and not list(tmp_path.iterdir())
        assert ("memfd:a" in os.readlink(f"/proc/self/fd/{file}")) and os.fstat(file).st_size == 0
        os.ftruncate(file, mmap.PAGESIZE)
        os.ftruncate(file, 2 * mmap.PAGESIZE)
        with map_file(file, 2 * mmap.PAGESIZE) as memory:
            memory[mmap.PAGESIZE] = 7
        assert os.pread(file, 1, mmap.PAGESIZE) == b"\x07"
    finally:
        os.close(file)
