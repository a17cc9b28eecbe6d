"""Files of results: replaced when their content is complete, and named by errors."""

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
