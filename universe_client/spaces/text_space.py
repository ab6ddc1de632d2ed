"""The space of texts that a rewarder sends."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np


class TextSpace(gymnasium.Space[list[Any]]):
    """Lists of texts, in the order in which they arrived; each text is any JSON value.

    Gymnasium does not know this space. A batch is a tuple with one list per remote, and Gymnasium's `AsyncVectorEnv`
    supports it only with `shared_memory=False`.

    Example:
        assert ["well done"] in TextSpace()
    """

    def __init__(self, seed: int | np.random.Generator | None = None) -> None:
        """Make the space; `seed` has no effect."""
        super().__init__(seed=seed)

    def sample(self, mask: Any | None = None, probability: Any | None = None) -> list[Any]:
        """Return an empty list, because the texts of a remote are unknown."""
        return []

    def contains(self, x: Any) -> bool:
        """Return whether `x` is a list."""
        return isinstance(x, list)

    @property
    def is_np_flattenable(self) -> bool:
        """False, because text has no fixed size."""
        return False

    def __repr__(self) -> str:
        return "TextSpace()"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TextSpace)

    __hash__ = None  # type: ignore[assignment]
