"""The gallery shows those of its tasks that render."""

import numpy as np
import pytest
from PIL import Image

from tests.examples.load import load


def test_every_family(tmp_path, capsys):
    gallery, path = load("gallery"), tmp_path / "gallery.png"
    gallery.main([str(path)])
    assert capsys.readouterr() == (f"{path}: {', '.join(gallery.TASKS)}\n", "")
    frame = np.asarray(Image.open(path))
    for y in (0, gallery.HEIGHT + 2):
        for x in range(0, frame.shape[1] - gallery.WIDTH + 1, gallery.WIDTH + 2):
            assert frame[y + 40 : y + gallery.HEIGHT, x : x + gallery.WIDTH].std() > 5


def test_what_cannot_be_drawn_is_told(tmp_path, capsys, monkeypatch):
    gallery = load("gallery")

    def refuse(task):
        if task != "CartPole-v1":
            raise ImportError("no brush")
        return np.full((gallery.HEIGHT, gallery.WIDTH, 3), 7, np.uint8)

    monkeypatch.setattr(gallery, "frame_of", refuse)
    gallery.main([str(tmp_path / "a.png")])
    captured = capsys.readouterr()
    assert captured.out.endswith("a.png: CartPole-v1\n") and captured.err.count("is left out: no brush") == 5
    monkeypatch.setattr(gallery, "TASKS", gallery.TASKS[1:])
    with pytest.raises(SystemExit, match="no task can be rendered on this machine"):
        gallery.main([str(tmp_path / "b.png")])
    assert not (tmp_path / "b.png").exists()
