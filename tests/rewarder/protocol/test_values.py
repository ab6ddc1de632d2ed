"""Values of calls: packed into JSON and back without a loss."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from rewarder.protocol.values import pack, unpack

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text().filter(lambda key: "$" not in key), inner),
    max_leaves=10,
)
ARRAYS = st_numpy.arrays(
    st.sampled_from(["<f4", ">f8", "|u1", "<i8", "|b1", "<c8"]), st_numpy.array_shapes(min_dims=0, max_side=4)
)


def through(value: object) -> object:
    return unpack(json.loads(json.dumps(pack(value), allow_nan=False)))


@given(PLAIN)
def test_plain_values_survive(value):
    assert through(value) == value


@given(ARRAYS)
def test_arrays_survive_to_the_last_bit(array):
    back = through({"state": array})["state"]
    assert back.dtype == array.dtype and back.shape == array.shape
    assert back.tobytes() == array.tobytes()
    back[...] = 0  # the caller's own


def test_scalars_and_tuples_become_pythons():
    assert through((np.float32(0.5), np.int64(3), np.bool_(True))) == [0.5, 3, True]
    assert math.isnan(through(math.nan))


@pytest.mark.parametrize(
    ("value", "culprit"),
    [(object(), "object"), (b"bytes", "bytes"), ({1: 2}, "dict"), (np.array([None]), "dtype object")],
)
def test_other_things_are_named(value, culprit):
    with pytest.raises(ValueError, match=culprit):
        pack([value])


@pytest.mark.parametrize(
    "wire",
    [
        {"$array": "AAAA", "dtype": "object", "shape": [1]},
        {"$array": "AAAA", "dtype": "nonsense", "shape": [1]},
        {"$array": "AAAA", "dtype": "<f4", "shape": [1]},
        {"$array": "AAAAAA==", "dtype": "<f4", "shape": [-1]},
        {"$array": "!", "dtype": "<f4", "shape": [1]},
        {"$float": "one"},
    ],
)
def test_what_cannot_have_been_packed_is_a_value_error(wire):
    with pytest.raises(ValueError):
        unpack(wire)
