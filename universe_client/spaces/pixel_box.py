"""A `Box` of bytes whose bounds take no memory, whatever the size and number of the screens."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector.utils import batch_differing_spaces, batch_space
from numpy.typing import NDArray


class PixelBox(Box):
    """`Box(0, 255, shape, uint8)` whose bounds are views of one byte each.

    The bounds of Gymnasium's Box for 64 screens of 1024x768 take 604 MB, and `contains` compares all of them with a
    frame. A `PixelBox` is equal to that Box, and is batched and pickled as a Box is.

    Example:
        space = PixelBox((768, 1024, 3))
        assert space == gymnasium.spaces.Box(0, 255, (768, 1024, 3), np.uint8)
        assert gymnasium.vector.utils.batch_space(space, 64).shape == (64, 768, 1024, 3)
    """

    def __init__(self, shape: Sequence[int], seed: int | np.random.Generator | None = None) -> None:
        """Make the space of uint8 arrays.

        Args:
            shape: the shape of the arrays.
            seed: the seed of `sample`.
        """
        self._shape = tuple(int(length) for length in shape)
        self.dtype = np.dtype(np.uint8)
        self.low = np.broadcast_to(np.uint8(0), self._shape)
        self.high = np.broadcast_to(np.uint8(255), self._shape)
        self.bounded_below = self.bounded_above = np.broadcast_to(np.True_, self._shape)
        self.low_repr, self.high_repr = "0", "255"
        gymnasium.Space.__init__(self, self._shape, self.dtype, seed)

    def is_bounded(self, manner: str = "both") -> bool:
        """Return True: bytes are bounded from below and above."""
        if manner not in ("both", "below", "above"):
            raise ValueError(f"manner={manner!r} is neither 'both', 'below' nor 'above'")
        return True

    def sample(self, mask: None = None, probability: None = None) -> NDArray[Any]:
        """Return an array of random bytes; `mask` and `probability` must be None."""
        if mask is not None or probability is not None:
            raise gymnasium.error.Error("PixelBox.sample() supports neither mask nor probability")
        return self.np_random.integers(0, 256, self._shape, dtype=np.uint8)

    def contains(self, x: Any) -> bool:
        """Return whether `x` is a uint8 array of this shape; all values are in bounds."""
        return isinstance(x, np.ndarray) and x.dtype == np.uint8 and x.shape == self._shape

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PixelBox):
            return self._shape == other._shape
        return (
            isinstance(other, Box)
            and (other.shape, other.dtype) == (self._shape, self.dtype)
            and not other.low.any()
            and bool((other.high == 255).all())
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the shape and the random generator, not the bounds."""
        return PixelBox, (self._shape, self._np_random)

    def __repr__(self) -> str:
        return f"PixelBox({self._shape})"


@batch_space.register(PixelBox)
def _batch(space: PixelBox, n: int = 1) -> PixelBox:
    return PixelBox((n, *space.shape), deepcopy(space.np_random))


@batch_differing_spaces.register(PixelBox)
def _batch_differing(  # type: ignore[misc]  # Gymnasium dispatches on the first element
    spaces: Sequence[PixelBox],
) -> PixelBox:
    for space in spaces:
        if space != spaces[0]:
            raise ValueError(f"spaces to batch differ: {spaces[0]} and {space}")
    return _batch(spaces[0], len(spaces))
