"""Infos of a batch: an array and a mask for each key."""

import numpy as np

from universe_client.core.info import blank
from universe_client.gym.batch.array_conversion import ObjectColumn
from universe_client.gym.batch.infos import DTYPES, RESETTING, batch, column


def infos(n, **values):
    return [{**blank(), RESETTING: False, **values} for _ in range(n)]


def test_arrays_belong_to_the_caller():
    for _ in range(3):
        batched = batch(infos(2, **{"stats.reward.count": 4, "env_status.env_id": "a"}))
        assert batched["stats.reward.count"].tolist() == [4, 4]
        assert batched["env_status.env_id"].tolist() == ["a", "a"]
        assert batched["_stats.reward.count"].all()
        for values in batched.values():
            values[:] = values[::-1] if values.dtype == object else 1
        batched["_env_status.env_id"][:] = False


def test_every_batch_has_the_dtypes_of_the_schema():
    rows = infos(3)
    rows[1] |= {"env_status.reason": "lost", "error": "gone", "reaction_time": 0.25, "truncated": True}
    rows[2] |= {"timed.played": [(1.0, 2.0, [])], "stats.vnc.updates.n": 2**40}
    for known in (infos(3), rows, [None, *rows[1:]], infos(3), rows):
        batched = batch(known)
        for key, dtype in DTYPES.items():
            values = tuple(None if info is None else info[key] for info in known)
            expected, mask = column(values, dtype)
            assert batched[key].dtype == expected.dtype and type(batched[key]) is type(expected)
            assert batched[key].tolist() == expected.tolist() and batched[f"_{key}"].tolist() == mask.tolist()


def test_columns_of_objects_are_not_converted_to_tensors():
    assert isinstance(batch(infos(2))["error"], ObjectColumn)
    assert isinstance(batch(infos(2))["error"], np.ndarray)
