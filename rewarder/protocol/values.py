"""Pack Python values into JSON and back; numpy arrays stay exact."""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np

_ARRAY, _FLOAT = "$array", "$float"
_KINDS = "biufc"
"""Kinds of dtype that can be packed: numbers, no objects."""


def pack(value: object) -> object:
    """Return `value` as a JSON value.

    Args:
        value: None, booleans, numbers, strings, numpy arrays of numbers, and lists, tuples and dicts of these.

    Returns:
        The same value, with these replacements. An array becomes `{"$array": base64 of its bytes, "dtype": "<f4",
        "shape": [2]}`; an infinity or NaN becomes `{"$float": "inf"}`; a numpy scalar becomes a Python number; a tuple
        becomes a list. `unpack` cannot distinguish a dict that has these keys from one of these replacements.

    Raises:
        ValueError: `value` contains another type.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case np.generic():
            return pack(value.item())
        case float():
            return value if math.isfinite(value) else {_FLOAT: str(value)}
        case np.ndarray():
            return _pack_array(value)
        case list() | tuple():
            return [pack(inner) for inner in value]
        case dict() if all(isinstance(key, str) for key in value):
            return {key: pack(inner) for key, inner in value.items()}
    raise ValueError(f"a value of type {type(value).__name__} cannot be sent")


def _pack_array(array: np.ndarray[Any, Any]) -> object:
    if array.dtype.kind not in _KINDS:
        raise ValueError(f"an array of dtype {array.dtype} cannot be sent")
    data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return {_ARRAY: data, "dtype": array.dtype.str, "shape": list(array.shape)}


def unpack(value: object) -> Any:
    """Return the value that `pack` packed.

    Raises:
        ValueError: a packed array or float is malformed.
    """
    match value:
        case {"$array": str() as data, "dtype": str() as dtype, "shape": list() as shape}:
            return _unpack_array(data, dtype, shape)
        case {"$float": str() as text}:
            return float(text)
        case list():
            return [unpack(inner) for inner in value]
        case dict():
            return {key: unpack(inner) for key, inner in value.items()}
    return value


def _unpack_array(data: str, dtype: str, shape: list[Any]) -> np.ndarray[Any, Any]:
    try:
        kind = np.dtype(dtype)
    except TypeError as error:
        raise ValueError(f"unknown dtype {dtype[:16]!r} of an array") from error
    if kind.kind not in _KINDS or not all(isinstance(side, int) and side >= 0 for side in shape):
        raise ValueError(f"invalid array of dtype {dtype[:16]!r} and shape {str(shape)[:64]}")
    return np.frombuffer(base64.b64decode(data, validate=True), kind).reshape(shape).copy()
