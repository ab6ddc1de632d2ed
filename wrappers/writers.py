"""Writes scalars and videos to TensorBoard, or to a run of Weights & Biases."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from universe_client.errors import ConfigError


class Writer:
    """Writes to what the user has opened: a `SummaryWriter`, or what `wandb.init()` returns."""

    def __init__(self, target: Any) -> None:
        """Take a target that has `add_scalar` and `add_video`, or `log`.

        Raises:
            ConfigError: it has none of them.
        """
        self._target = target
        self._is_tensorboard = hasattr(target, "add_scalar")
        if not self._is_tensorboard and not hasattr(target, "log"):
            raise ConfigError(
                f"writer={target!r} has neither add_scalar, as TensorBoard's SummaryWriter, nor log, as a run of W&B"
            )

    def scalars(self, values: Mapping[str, float], step: int) -> None:
        """Write named numbers."""
        if not self._is_tensorboard:
            self._target.log(dict(values), step=step)
            return
        for name, value in values.items():
            self._target.add_scalar(name, value, step)

    def video(self, name: str, path: Path, fps: int, step: int) -> None:
        """Write an MP4 file."""
        if not self._is_tensorboard:
            from wandb import Video

            self._target.log({name: Video(str(path), format="mp4")}, step=step)
            return
        from universe_client.recording.video import frames

        pictures = np.stack([pixels.transpose(2, 0, 1) for _, pixels in frames(path)])
        self._target.add_video(name, pictures[np.newaxis], step, fps)
