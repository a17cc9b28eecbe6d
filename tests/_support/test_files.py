"""Files that are replaced when their content is complete."""

import pytest

from envpool._support.files import replaced


def test_a_file_is_replaced_at_the_end(tmp_path):
    path = tmp_path / "a"
    for text in (b"first", b"second"):
        with replaced(path) as file:
            file.write(text)
    with pytest.raises(KeyboardInterrupt), replaced(path) as file:
        file.write(b"third")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"second" and list(tmp_path.iterdir()) == [path]
