"""What infos tell in words: Gymnasium's wrappers that convert arrays (`NumpyToTorch`, say) leave it as it is."""

from __future__ import annotations

from typing import Any

import numpy as np


class Words(np.ndarray[Any, np.dtype[Any]]):
    """A column of an infos whose entries are no numbers, or None: an array of dtype object."""


def leave_words_alone() -> None:
    """Tell Gymnasium's array conversion, if it is there, that words have no counterpart in other array libraries.

    Without that it fails for an array of dtype object, and makes a generator's `repr` of a string.
    """
    try:
        from gymnasium.wrappers.array_conversion import array_conversion
    except ImportError:  # Gymnasium before 1.2, or without array-api-compat, which its conversions need
        return
    for kind in (Words, str):
        array_conversion.register(kind, _as_it_is)


def _as_it_is(value: Any, xp: object, device: object = None) -> Any:
    return value
