"""Files of results: replaced when their content is complete, and named by errors."""

import os
from pathlib import Path

import pytest

from envpool._support.files import check_output, replaced, write_text
from envpool.errors import ConfigError


def test_a_file_is_replaced_at_the_end(tmp_path):
    path = tmp_path / "a"
    for text in (b"first", b"second"):
        with replaced(path) as file:
            file.write(text)
    with pytest.raises(KeyboardInterrupt), replaced(path) as file:
        file.write(b"third")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"second" and list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_disk_is_named():
    with pytest.raises(OSError, match=r"No space left on device: '/dev/full'"):
        write_text(Path("/dev/full"), "text")


def test_a_file_that_cannot_be_created_is_named(tmp_path):
    check_output(tmp_path / "a")
    assert not list(tmp_path.iterdir())
    with pytest.raises(ConfigError, match="cannot write /proc/a: "):
        check_output(Path("/proc/a"))
    with pytest.raises(OSError, match=r"'/proc/a'$"), replaced(Path("/proc/a")):
        pass


def test_the_file_behind_a_link_is_replaced_with_its_permissions(tmp_path):
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "a", tmp_path / "link"
    target.write_bytes(b"old")
    target.chmod(0o600)
    link.symlink_to(target)
    with replaced(link) as file:
        file.write(b"new")
    assert link.is_symlink() and target.read_bytes() == b"new"
    assert target.stat().st_mode & 0o777 == 0o600


def test_a_pipe_is_not_replaced(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    check_output(path)  # a command may write its text to it
    with pytest.raises(ConfigError, match="it is a device, pipe or socket; give the name of a file"):
        check_output(path, is_replaced=True)
    with pytest.raises(ConfigError, match="it is a device, pipe or socket"), replaced(path):
        pass
    assert path.is_fifo()
