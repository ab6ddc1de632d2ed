"""Environment observations: what the remotes' environments themselves return, as the rows of one array."""

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
from universe_client.gym.batch.startup import await_links


class EnvObservations:
    """The newest environment observation of each remote.

    Attributes:
        space: the space of one row, as the remotes reported it.
        rows: (n, *space.shape) of the space's dtype; zeros until a remote has sent one.
    """

    def __init__(self, core: RemoteVector) -> None:
        """Wait until the remotes have reported their environment observation spaces.

        Raises:
            ConfigError: the spaces differ, or one of them is not a `Box`.
            RemoteError: a remote failed permanently, did not connect in time, or sends no environment observations.
        """
        await_links(core, lambda link: _reported(link) is not None, "no observation space")
        boxes = [_box(remote.link) for remote in core.remotes]
        for remote, box in zip(core.remotes, boxes, strict=True):
            if box != boxes[0]:
                raise ConfigError(f"remote {remote.link.label} has {box}, remote 0 has {boxes[0]}")
        self.space = boxes[0]
        self.rows: NDArray[Any] = np.zeros((core.n, *self.space.shape), self.space.dtype)
        self._core = core

    def take(self, row: int, value: object) -> None:
        """Put an environment observation into its row; a remote whose value is not in the space is marked as lost."""
        try:
            self.rows[row] = np.asarray(value, self.space.dtype).reshape(self.space.shape)
        except (TypeError, ValueError) as error:
            self._core.lose(row, f"an observation that is not in {self.space}: {error}")


def _reported(link: Link) -> EnvObservationSpace | None:
    return None if link.rewarder is None else link.rewarder.env_observation_space


def _box(link: Link) -> gymnasium.spaces.Box:
    space = _reported(link)
    assert space is not None
    try:
        low, high = np.asarray(unpack(space.low)), np.asarray(unpack(space.high))
        return gymnasium.spaces.Box(low, high, low.shape, low.dtype.type)
    except (ValueError, TypeError, AssertionError) as error:
        raise ConfigError(f"the observation space of remote {link.label} is not a Box: {error}") from error
