"""A Box that takes no memory, and is one all the same."""

from __future__ import annotations

import copy
import pickle
import tracemalloc

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, flatten_space
from gymnasium.utils.passive_env_checker import check_observation_space
from gymnasium.vector.utils import (
    batch_differing_spaces,
    batch_space,
    concatenate,
    create_empty_array,
    create_shared_memory,
    iterate,
    read_from_shared_memory,
    write_to_shared_memory,
)

from universe_client.spaces.pixel_box import PixelBox

SHAPE = (6, 4, 3)
STOCK = Box(0, 255, SHAPE, np.uint8)


def test_64_screens_cost_no_memory():
    def batch_and_copy():
        batched = batch_space(PixelBox((768, 1024, 3)), 64)
        return batched, pickle.loads(pickle.dumps(copy.deepcopy(batched)))

    tracemalloc.start()
    batched, copied = batch_and_copy()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert copied == batched
    assert batched.shape == batched.low.shape == (64, 768, 1024, 3)
    assert peak < 1_000_000
    assert len(pickle.dumps(batched)) < 2000


def test_contains_looks_at_no_pixel():
    batched = batch_space(PixelBox((768, 1024, 3)), 16)
    frames = np.zeros(batched.shape, np.uint8)
    tracemalloc.start()
    assert frames in batched
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < frames.size // 100, "a comparison of all pixels allocates a byte for each"


def test_it_equals_the_stock_box_both_ways_round():
    assert PixelBox(SHAPE) == STOCK
    stock, pixels = STOCK, PixelBox(SHAPE)
    assert stock == pixels
    for other in (
        Box(0, 254, SHAPE, np.uint8),
        Box(1, 255, SHAPE, np.uint8),
        Box(0, 255, SHAPE, np.int16),
        Box(0, 255, (*SHAPE, 1), np.uint8),
        PixelBox((*SHAPE, 1)),
        "no space",
    ):
        assert PixelBox(SHAPE) != other


@pytest.mark.parametrize(
    "value",
    [
        np.zeros(SHAPE, np.uint8),
        np.full(SHAPE, 255, np.uint8),
        np.zeros((6, 4), np.uint8),
        np.zeros(SHAPE, np.int64),
        np.zeros(SHAPE, np.float32),
        "x",
    ],
)
@pytest.mark.filterwarnings("ignore:.*Casting input x to numpy array")
def test_it_contains_what_the_stock_box_contains(value):
    assert PixelBox(SHAPE).contains(value) == STOCK.contains(value)


def test_attributes_are_those_of_the_stock_box():
    space = PixelBox(SHAPE)
    for name in ("low", "high", "bounded_below", "bounded_above"):
        assert np.array_equal(getattr(space, name), getattr(STOCK, name))
        assert getattr(space, name).dtype == getattr(STOCK, name).dtype
    assert (space.shape, space.dtype, space.is_np_flattenable) == (SHAPE, np.uint8, True)
    assert all(space.is_bounded(manner) for manner in ("both", "below", "above"))
    with pytest.raises(ValueError, match="neither"):
        space.is_bounded("sideways")
    check_observation_space(space)
    assert repr(space) == "PixelBox((6, 4, 3))"


def test_samples_come_from_the_seed_and_use_the_whole_range():
    one, other = PixelBox((64, 64, 3), seed=3), PixelBox((64, 64, 3), seed=3)
    sample = one.sample()
    assert sample in one
    assert np.array_equal(sample, other.sample())
    assert {0, 255} <= set(sample.ravel())
    assert not np.array_equal(sample, one.sample())
    with pytest.raises(gymnasium.error.Error, match="mask"):
        one.sample(mask=1)


def test_a_pickle_remembers_the_dice():
    space = PixelBox(SHAPE, seed=5)
    space.sample()
    again = pickle.loads(pickle.dumps(space))
    assert np.array_equal(space.sample(), again.sample())


def test_gymnasiums_vector_utilities_take_it():
    space = PixelBox(SHAPE, seed=1)
    batched = batch_space(space, 3)
    assert isinstance(batched, PixelBox)
    frames = [space.sample() for _ in range(3)]
    out = create_empty_array(space, 3)
    together = concatenate(space, frames, out)
    assert together in batched
    assert all(
        np.array_equal(one, frame) for one, frame in zip(iterate(batched, together), frames, strict=True)
    )
    memory = create_shared_memory(space, 3)
    write_to_shared_memory(space, 1, frames[1], memory)
    assert np.array_equal(read_from_shared_memory(space, memory, 3)[1], frames[1])
    assert batch_space(Dict(vision=space), 2)["vision"] == PixelBox((2, *SHAPE))
    assert flatten_space(space).shape == (72,)


def test_only_equal_boxes_batch():
    assert batch_differing_spaces([PixelBox(SHAPE), PixelBox(SHAPE)]) == PixelBox((2, *SHAPE))
    with pytest.raises(ValueError, match=r"differ: PixelBox\(\(6, 4, 3\)\) and PixelBox\(\(1,\)\)"):
        batch_differing_spaces([PixelBox(SHAPE), PixelBox((1,))])
