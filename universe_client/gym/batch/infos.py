"""Infos as Gymnasium's vector environments return them: per key an array, and a mask of the rows that have a value.

The keys of `universe_client.core.info.SCHEMA` are present in every infos, always with the same dtype and shape (n,). A
missing number is 0 and a missing string None; the mask is False there. Additional keys are:

- `resetting` (bool): the frame of this row is not of a running episode.
- `frame_number` (int64): as long as it does not change, the pixels of the row do not change; -1 for a filled row.
- `env_id` (int64): the row number of each result; `step` and `recv` only.
- `remote.*`: what a remote sends in the info of a reward.
- `final_obs`, `final_info`: the last observation and info of episodes that ended; `AutoresetMode.SAME_STEP` only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from universe_client.core.info import COUNTS, CURRENT, SCHEMA
from universe_client.gym.batch.array_conversion import ObjectColumn

RESETTING = "resetting"
FRAME_NUMBER = "frame_number"
NOOP, STICKY = "noop", "sticky"
ACTION_FLAGS = (NOOP, STICKY)
"""Info flags set by wrappers: this row's action was ignored."""
FILLED = -1
"""The frame number of a row whose pixels are filled with one value."""
_TIMES = ("reaction_time", "stats.gauges.")
_VARYING = ("reaction_time", "stats.gauges.", "stats.vnc.", "env_status.episode_id", "env_status.complete.")

_BLANKS = {key: default for key, (default, _) in SCHEMA.items() if key.startswith(_VARYING)}


def steady(info: Mapping[str, Any]) -> dict[str, Any]:
    """Return `info` without values that differ between two runs with the same seed and actions: times, bytes, ids."""
    return {**info, **_BLANKS}


def _dtype(key: str, default: object) -> type:
    if default is not None:
        return type(default)
    return float if key.startswith(_TIMES) else object


DTYPES: dict[str, type] = {key: _dtype(key, default) for key, (default, _) in SCHEMA.items()} | {
    RESETTING: bool
}
"""The dtype of each key that is in every infos."""
_COLUMNS = [(key, f"_{key}", dtype) for key, dtype in DTYPES.items()]


def batch(infos: Sequence[Mapping[str, Any] | None]) -> dict[str, Any]:
    """Return one array and one mask per key; None stands for a row without values."""
    batched: dict[str, Any] = {}
    known = [{} if info is None else info for info in infos]
    # All columns in few calls: this runs in every step.
    columns = zip(*(map(info.get, DTYPES) for info in known), strict=True) if known else repeat(())
    for (key, mask, dtype), values in zip(_COLUMNS, columns, strict=False):
        batched[key], batched[mask] = _schema_column(values, dtype)
    more = (info.keys() - DTYPES.keys() for info in known if not info.keys() <= DTYPES.keys())
    for key in sorted(set().union(*more)):
        own = [info.get(key) for info in known]
        batched[key], batched[f"_{key}"] = column(own, _common(own))
    return batched


def unbatch(infos: Mapping[str, Any], n: int) -> list[dict[str, Any]]:
    """Return one dict for each of `n` rows, with the keys for which the row has a value."""
    rows: list[dict[str, Any]] = [{} for _ in range(n)]
    for key, column in infos.items():
        if key.startswith("_"):
            continue
        values = unbatch(column, n) if isinstance(column, dict) else column.tolist()
        for row in np.flatnonzero(infos.get(f"_{key}", np.ones(n))):
            rows[row][key] = values[row]
    return rows


def column(values: Sequence[Any], dtype: type) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return `values` as an array of `dtype`, and the mask of the rows whose value is not None."""
    n = len(values)
    array: NDArray[Any] = np.empty(n, object).view(ObjectColumn) if dtype is object else np.zeros(n, dtype)
    mask = np.zeros(n, np.bool_)
    if dtype is not object and None not in values:  # the usual case, in two calls
        array[:], mask[:] = values, True
        return array, mask
    for row, value in enumerate(values):
        if value is not None:
            array[row], mask[row] = value, True
    return array, mask


def _schema_column(values: tuple[Any, ...], dtype: type) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return `column(values, dtype)` of a key of the schema, copied if these values have been seen before.

    Most keys have the same values in most steps. Times differ in each step.
    """
    if dtype is float and None not in values:
        return column(values, dtype)
    try:
        array, mask = _seen(values, dtype)
    except TypeError:  # a list
        return column(values, dtype)
    return array.copy(), mask.copy()


# In one column of the schema, equal values have the same type, so that they make equal arrays.
_seen = lru_cache(maxsize=512)(column)


def put(infos: dict[str, Any], key: str, values: Any, mask: NDArray[np.bool_] | None = None) -> None:
    """Put a column and its mask into `infos`; without a mask every row has a value."""
    infos[key] = values
    infos[f"_{key}"] = np.ones(len(values), np.bool_) if mask is None else mask


def _common(values: Sequence[Any]) -> type:
    """Return the dtype for values from a remote: a number type if all values have it, otherwise object."""
    kinds = {type(value) for value in values if value is not None}
    return kinds.pop() if len(kinds) == 1 and kinds <= {bool, int, float} else object


def merge_rows(earlier: dict[str, Any], later: Mapping[str, Any], places: NDArray[np.intp]) -> None:
    """Merge the infos of a later step of the rows at `places` into the infos of a batch, in place.

    The rules are those of `universe_client.core.info.merge`. A flag of `ACTION_FLAGS` stays True.
    """
    n = len(earlier[f"_{RESETTING}"])
    for key, values in later.items():
        if key.startswith("_"):
            continue
        known = np.ones(len(places), np.bool_) if key in CURRENT else later[f"_{key}"]
        column = earlier.setdefault(key, np.zeros(n, values.dtype))
        mask = earlier.setdefault(f"_{key}", np.zeros(n, np.bool_))
        if column.dtype != values.dtype:
            earlier[key] = column = column.astype(object).view(ObjectColumn)
        if key in COUNTS:
            column[places] += values
        elif key in ACTION_FLAGS:
            column[places] |= values
        else:
            column[places[known]] = values[known]
        mask[places] = later[f"_{key}"] if key in CURRENT else mask[places] | known
