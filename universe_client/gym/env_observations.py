"""The environments' own observations, as the rows of one array."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from rewarder.protocol.messages import EnvObservationSpace
from rewarder.protocol.values import unpack
from universe_client.core.link import Link
from universe_client.core.vector import RemoteVector
from universe_client.errors import ConfigError
from universe_client.gym.startup import await_links


class EnvObservations:
    """What `v0.env.observation` says last of each remote.

    Attributes:
        space: the box of each row, as the remotes told it.
        rows: (n, *space.shape) of the box's dtype.
    """

    def __init__(self, core: RemoteVector) -> None:
        """Wait until the remotes have told their observation spaces.

        Raises:
            ConfigError: they differ, or one of them is no box.
            RemoteError: a remote cannot be reached, or tells no observations.
        """
        await_links(core, lambda link: _told(link) is not None, "no observation space")
        boxes = [_box(remote.link) for remote in core.remotes]
        for remote, box in zip(core.remotes, boxes, strict=True):
            if box != boxes[0]:
                raise ConfigError(f"remote {remote.link.label} has {box}, remote 0 has {boxes[0]}")
        self.space = boxes[0]
        self.rows: NDArray[Any] = np.zeros((core.n, *self.space.shape), self.space.dtype)
        self._core = core

    def take(self, row: int, value: object) -> None:
        """Put what a remote sent into its row; a remote that sent something else is called lost."""
        try:
            self.rows[row] = np.asarray(value, self.space.dtype).reshape(self.space.shape)
        except (TypeError, ValueError) as error:
            self._core.lose(row, f"an observation that is not in {self.space}: {error}")


def _told(link: Link) -> EnvObservationSpace | None:
    return None if link.rewarder is None else link.rewarder.env_observation_space


def _box(link: Link) -> gymnasium.spaces.Box:
    told = _told(link)
    assert told is not None
    try:
        low, high = np.asarray(unpack(told.low)), np.asarray(unpack(told.high))
        return gymnasium.spaces.Box(low, high, low.shape, low.dtype.type)
    except (ValueError, TypeError, AssertionError) as error:
        raise ConfigError(f"the observation space of remote {link.label} is no box: {error}") from error
