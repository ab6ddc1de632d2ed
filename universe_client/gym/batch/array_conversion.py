"""Keep the strings and objects of infos out of Gymnasium's conversion of arrays to other libraries.

`gymnasium.wrappers.vector.NumpyToTorch` and its relatives convert every array of infos. An array of dtype object has no
counterpart in PyTorch or JAX.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class ObjectColumn(np.ndarray[Any, np.dtype[Any]]):
    """An array of dtype object in infos: one string, other object or None per row."""


def _keep_objects() -> None:
    """Register `ObjectColumn` and `str` with Gymnasium's array conversion as values to leave unchanged.

    Without this the conversion raises for an array of dtype object, and replaces a string by the `repr` of a generator.
    """
    try:
        from gymnasium.wrappers.array_conversion import array_conversion
    except ImportError:  # Gymnasium before 1.2, or no array-api-compat, which the conversion requires
        return
    for kind in (ObjectColumn, str):
        array_conversion.register(kind, _unchanged)


def _unchanged(value: Any, xp: object, device: object = None) -> Any:
    return value


_keep_objects()
