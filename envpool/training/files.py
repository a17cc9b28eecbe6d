"""The files that a run is to write, checked before it begins."""

from __future__ import annotations

from pathlib import Path

from envpool._support.files import check_output
from envpool.errors import ConfigError
from envpool.evaluation.video import check_video


def check_files(saved: str | None, video: str | None) -> None:
    """Make the folders of files that will be written, and exit with a message if they cannot be.

    Parameters
    ----------
    saved : str or None
        The option ``--save``; None for no file.
    video : str or None
        The option ``--capture-video``; None for no video.
    """
    if video and Path(video).suffix not in (".mp4", ".gif"):
        raise SystemExit(f"--capture-video must end in .mp4 or .gif, got {video!r}")
    try:
        for path in filter(None, (saved, video)):
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            check_output(Path(path), is_replaced=path == saved)
        if video:
            check_video(Path(video))
    except (ConfigError, ImportError, OSError) as error:
        raise SystemExit(str(error)) from error
