"""render_mode "human": one env in a window of OpenCV, for which a stand-in is used here, or of pygame."""

import subprocess
import sys
from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from envpool._support import window
from envpool.errors import EnvIdError, PoolStateError, RenderError
from tests.support import plugin
from tests.support.checked_pool import codes


class Screen:
    """Stands for an OpenCV with windows, which tests do not have."""

    error = cv2.error

    def __init__(self):
        self.shown, self.open = [], set()

    def getBuildInformation(self):
        return "  GUI:                           QT5\n"

    def imshow(self, title, frame):
        self.open.add(title)
        self.shown.append(frame.copy())

    def waitKey(self, ms):
        assert ms > 0
        return -1

    def destroyWindow(self, title):
        if title not in self.open:
            raise cv2.error("no such window")
        self.open.remove(title)


@pytest.fixture
def screen(monkeypatch):
    screen = Screen()
    monkeypatch.setitem(sys.modules, "cv2", screen)
    monkeypatch.setattr(window, "display_error", lambda: "")
    monkeypatch.delenv("SDL_VIDEODRIVER", raising=False)
    return screen


@pytest.fixture
def no_display(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"):
        monkeypatch.delenv(name, raising=False)


def make(**options):
    pool = plugin.make(render_mode="human", **options)
    pool.reset()
    return pool


def test_one_env_is_shown(screen):
    pool = make(num_envs=3, render_env_id=2)
    assert pool.render() is None
    assert pool.render(1) is None
    assert pool.render([0]) is None
    shown = [codes(np.ascontiguousarray(f[None, :, :, ::-1]))[0, 0] for f in screen.shown]
    assert shown == [2, 1, 0], "in OpenCV's order of colours"
    assert len(screen.open) == 1
    pool.close()
    assert not screen.open
    pool.close()


def test_each_pool_has_its_window(screen):
    with make() as one, make() as two:
        one.render()
        two.render()
        assert len(screen.open) == 2


def test_several_envs_are_refused(screen):
    with make(num_envs=3) as pool:
        for ids in ([0, 1], [], [1, 1]):
            with pytest.raises(EnvIdError, match=rf"shows one env, got {len(ids)} ids: use render_mode='rgb_array'"):
                pool.render(ids)
    assert not screen.shown


def test_a_window_that_the_user_closed(screen):
    pool = make()
    pool.render()
    screen.open.clear()
    pool.close()


def test_opencv_complains(screen, monkeypatch):
    def imshow(*_):
        raise cv2.error("the plug was pulled")

    monkeypatch.setattr(screen, "imshow", imshow)
    with make() as pool, pytest.raises(RenderError, match="OpenCV cannot show a window: the plug was pulled"):
        pool.render()


def test_without_a_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(ImportError, match=r"the installed OpenCV cannot open any: pip install pygame-ce"):
        plugin.make(render_mode="human")
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(ImportError, match=r"OpenCV cannot be imported .*: pip install pygame-ce"):
        plugin.make(render_mode="human")


# ---- pygame ----------------------------------------------------------------------------------------------------------


def test_pygame_without_a_display(no_display):
    with make() as pool, pytest.raises(RenderError, match="since there is no display: set DISPLAY"):
        pool.render()


def test_pygame_shows_frames(no_display, monkeypatch):
    """OpenCV is the one without windows; SDL's dummy driver shows nothing, but does everything else."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    drawn = []
    with make(num_envs=2) as pool, make() as other:
        assert pool.render() is None and other.render() is None
        shown = pool._window._shown
        assert isinstance(shown, window.PygameWindow)
        image = shown._pygame.image
        monkeypatch.setattr(shown, "_pygame", SimpleNamespace(**vars(shown._pygame)))
        shown._pygame.image = SimpleNamespace(frombuffer=lambda *a: drawn.append(a) or image.frombuffer(*a))
        pool.render(1)
        (frame, size, form), expected = drawn[0], (12, 8)
        assert codes(np.asarray(frame)[None])[0, 0] == 1 and size == expected and form == "RGB"
    with pytest.raises(PoolStateError):
        pool.render()


def test_pygame_complains(no_display, monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "nonsense")
    with make() as pool, pytest.raises(RenderError, match="pygame cannot open a window"):
        import pygame

        pygame.display.quit()
        pool.render()


# ---- displays --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variables", "modules", "expected"),
    [
        ({}, {}, False),
        ({"DISPLAY": ":0"}, {}, True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, {}, True),
        ({"SDL_VIDEODRIVER": "dummy"}, {}, True),
        ({"SDL_VIDEODRIVER": "dummy"}, {"pygame": None}, False),
        ({"DISPLAY": ":0"}, {"pygame": None}, False),
        ({"DISPLAY": ":0"}, {"pygame": None, "cv2": Screen()}, True),
    ],
)
def test_whether_a_window_can_be_opened(variables, modules, expected, no_display, monkeypatch):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    assert window.can_show() == expected


def test_without_a_display(screen, monkeypatch):
    def run(*_, **__):
        return SimpleNamespace(returncode=-6, stderr="\nqt.qpa.xcb: could not connect to display :9\nAborted\n")

    monkeypatch.undo()
    monkeypatch.delenv("SDL_VIDEODRIVER", raising=False)
    monkeypatch.setitem(sys.modules, "cv2", screen)
    monkeypatch.setattr(subprocess, "run", run)
    window.display_error.cache_clear()
    try:
        with make() as pool, pytest.raises(RenderError, match=r"no window can be opened \(.*display :9\): set DISPLAY"):
            pool.render()
    finally:
        window.display_error.cache_clear()


def test_a_display_that_does_not_answer(monkeypatch):
    def run(*_, timeout, **__):
        raise subprocess.TimeoutExpired("python", timeout)

    monkeypatch.setattr(subprocess, "run", run)
    window.display_error.cache_clear()
    try:
        assert window.display_error() == "the display did not answer within 60 seconds"
    finally:
        window.display_error.cache_clear()
