"""Curves for TensorBoard: ``tensorboard --logdir DIR`` shows them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any


class Scalars:
    """Writes scalars to a run in a folder; without a folder, it does nothing.

    Parameters
    ----------
    folder : str or None
        The folder of all runs.
    name : str
        Name of the run, which becomes a folder.
    options : dict
        Options of the run, which are written as a text.
    """

    def __init__(self, folder: str | None, name: str, options: Mapping[str, Any]):
        self.writer: Any = None
        if folder is None:
            return
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise SystemExit(
                f"--tensorboard needs the package tensorboard: pip install tensorboard ({error})"
            ) from error
        self.writer = SummaryWriter(Path(folder) / name.replace("/", "-"))
        rows = [f"| {name} | {value} |" for name, value in options.items()]
        self.writer.add_text("options", "\n".join(["| option | value |", "| --- | --- |", *rows]))

    def add(self, step: int, values: Mapping[str, float]) -> None:
        """Write values by name, which belong to a number of environment steps."""
        if self.writer is not None:
            for name, value in values.items():
                self.writer.add_scalar(name, value, step)

    def __enter__(self) -> Scalars:
        return self

    def __exit__(self, *_: Any) -> None:
        if self.writer is not None:
            self.writer.close()
