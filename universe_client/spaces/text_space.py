"""The space of what a rewarder says in words."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np


class TextSpace(gymnasium.Space[list[Any]]):
    """Lists of texts, in the order in which they came; what a text is, is the remote's affair.

    A space that Gymnasium does not know: batched, its elements are a tuple with one list per remote, and stock
    `AsyncVectorEnv` takes it with `shared_memory=False` only.

    Example:
        assert ["well done"] in TextSpace()
    """

    def __init__(self, seed: int | np.random.Generator | None = None) -> None:
        """Describe texts; `seed` is there for the sake of other spaces."""
        super().__init__(seed=seed)

    def sample(self, mask: Any | None = None, probability: Any | None = None) -> list[Any]:
        """Return no text: there is no telling what a remote might say."""
        return []

    def contains(self, x: Any) -> bool:
        """Whether `x` is a list."""
        return isinstance(x, list)

    @property
    def is_np_flattenable(self) -> bool:
        """False: text has no fixed size."""
        return False

    def __repr__(self) -> str:
        return "TextSpace()"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TextSpace)

    __hash__ = None  # type: ignore[assignment]
