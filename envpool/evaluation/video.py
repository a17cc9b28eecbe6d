"""Videos of single environments, and of all environments of a pool side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from envpool._support.files import check_output
from envpool._support.packages import install
from envpool.config.render_options import TRACK
from envpool.errors import ConfigError
from envpool.evaluation.encoder import FORMATS, Encoder
from envpool.evaluation.tiling import Tiling, tiled


def check_video(path: Path) -> Path:
    """Return the path of a video, or raise ConfigError or ImportError if it could not be written."""
    if path.suffix not in FORMATS:
        raise ConfigError(f"a video must end in {' or '.join(FORMATS)}, got {str(path)!r}")
    check_output(path)
    try:
        import imageio_ffmpeg  # noqa: F401
        import PIL  # noqa: F401
    except ImportError as error:
        raise ImportError(f"videos need Pillow and imageio-ffmpeg: {install('render')}") from error
    return path


class Video:
    """A video of environments of a pool, each below a caption; MuJoCo's robots are followed where a camera does.

    Parameters
    ----------
    path : Path
        The file, which `check_video` has accepted.
    pool : EnvPool
        A pool with ``render_mode="rgb_array"``. The video plays in real time.
    fps : int, optional
        Frame rate in frames per second; by default real time.
    """

    def __init__(self, path: Path, pool: Any, fps: int | None = None):
        self._pool = pool
        self._encoder = Encoder(path, fps or pool.spec.real_time_fps)
        options = pool._render_options
        self._camera = TRACK if options is None or options.camera == -1 else None
        self._tiling: Tiling | None = None

    @property
    def count(self) -> int:
        """Number of frames."""
        return self._encoder.count

    def add(self, env_ids: int | Sequence[int], captions: str | Sequence[str]) -> None:
        """Add a frame of one environment, or of several ones side by side."""
        ids = np.atleast_1d(np.asarray(env_ids, np.int32))
        frames = self._pool.render(ids, self._camera)
        if self._tiling is None:
            self._tiling = Tiling(*frames.shape[:3])
        texts = [captions] if isinstance(captions, str) else captions
        self._encoder.add(tiled(frames, texts, self._tiling))

    def close(self) -> None:
        """Complete the file."""
        self._encoder.close()
