"""`Encoder`: a video or GIF file, whose frames are handed to ffmpeg one by one."""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path
from typing import BinaryIO

from envpool._support.descriptors import high_pipe
from envpool._support.interrupts import interrupts_deferred
from envpool._support.memory_files import memory_file
from envpool.errors import RenderError
from envpool.evaluation.tiling import Frame

#: Largest frame rate of a .gif file: browsers slow down files with shorter frames.
MOST_GIF_FPS = 50
#: Arguments of ffmpeg for the frames, by the suffix of the file. Each frame of a .gif file gets its own palette, so
#: that ffmpeg need not keep the frames until the last one has come.
FORMATS = {
    ".mp4": ["-c:v", "libx264", "-preset", "veryfast", "-crf", "20", "-pix_fmt", "yuv420p", "-movflags", "+faststart"],
    ".gif": ["-vf", "split[a][b];[a]palettegen=stats_mode=single[p];[b][p]paletteuse=new=1", "-loop", "0"],
}


class Encoder:
    """A file that ffmpeg writes while frames are added, so that the memory needed does not grow with their number.

    Parameters
    ----------
    path : Path
        The file to write, which is replaced if it exists. Its suffix is one of `FORMATS`.
    fps : int
        Frame rate in frames per second.

    Attributes
    ----------
    count : int
        Number of frames that were added.

    Notes
    -----
    ffmpeg runs in its own process group, since Ctrl-C in a terminal would end it together with this process. It
    completes the file when its input ends, hence also if this process is killed.
    """

    def __init__(self, path: Path, fps: int):
        self.count = 0
        self._path, self._fps = path, fps
        self._ffmpeg: subprocess.Popen[bytes] | None = None
        self._frames: BinaryIO | None = None
        self._messages = open(memory_file("ffmpeg"), "w+b")  # noqa: SIM115 (close() closes it)

    def add(self, frame: Frame) -> None:
        """Encode a frame, uint8 (height, width, 3). Ctrl-C takes effect after the whole frame has been written."""
        if self._ffmpeg is None:
            self._ffmpeg = self._start(frame.shape[0], frame.shape[1])
        assert self._frames is not None
        with interrupts_deferred():
            try:
                self._frames.write(frame.tobytes())
            except BrokenPipeError:
                self._check(self._ffmpeg.wait() or 1)
            self.count += 1

    def close(self) -> None:
        """Complete the file."""
        with self._messages, interrupts_deferred():
            if self._ffmpeg is not None:
                assert self._frames is not None
                with contextlib.suppress(BrokenPipeError):
                    self._frames.close()
                self._check(self._ffmpeg.wait())

    def _start(self, height: int, width: int) -> subprocess.Popen[bytes]:
        from imageio_ffmpeg import get_ffmpeg_exe

        fps, options = self._fps, FORMATS[self._path.suffix]
        if self._path.suffix == ".gif" and fps > MOST_GIF_FPS:
            options = ["-r", str(MOST_GIF_FPS), *options]
        source = f"-f rawvideo -pix_fmt rgb24 -s {width}x{height} -r {fps} -i pipe:".split()
        command = [get_ffmpeg_exe(), "-v", "error", "-y", *source, *options, f"file:{self._path}"]
        theirs, ours = high_pipe()
        self._frames = open(ours, "wb")  # noqa: SIM115 (close() closes it)
        try:
            return subprocess.Popen(
                command, stdin=theirs, stdout=subprocess.DEVNULL, stderr=self._messages, process_group=0
            )
        finally:
            os.close(theirs)

    def _check(self, status: int) -> None:
        """Raise an error with the messages of ffmpeg unless its exit status is 0."""
        if status:
            self._messages.seek(0)
            text = " ".join(self._messages.read().decode(errors="replace").split())
            raise RenderError({}, f"ffmpeg could not write {self._path}: {text or f'exit status {status}'}")
