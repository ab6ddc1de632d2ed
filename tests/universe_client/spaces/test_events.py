"""The spaces: bounds, samples, membership."""

from __future__ import annotations

import numpy as np
import pytest

from universe_client import ConfigError
from universe_client.spaces.events import EventSpace, ObservationSpace
from vnc.events import KeyEvent, PointerEvent


def test_ancestor_vnc_action_space_admitted_x_of_the_width():
    """spaces/vnc_action_space.py: `x > width` admitted x == width, and the default screen was 1024x728."""
    space = EventSpace(1024, 768)
    assert space.contains([PointerEvent(1023, 767, 0)])
    assert not space.contains([PointerEvent(1024, 0, 0)])
    assert not space.contains([PointerEvent(0, 768, 0)])
    assert space.contains([PointerEvent(0, 760, 0)]), "below 728"


def test_samples_are_contained_and_seeded():
    space = EventSpace(3, 2, keys=["a", "Left"], button_masks=[0, 1], seed=5)
    samples = [space.sample() for _ in range(300)]
    assert all(space.contains(sample) for sample in samples)
    events = {event for sample in samples for event in sample}
    assert {event.keysym for event in events if isinstance(event, KeyEvent)} == {97, 0xFF51}
    assert {(e.x, e.y, e.button_mask) for e in events if isinstance(e, PointerEvent)} == {
        (x, y, mask) for x in range(3) for y in range(2) for mask in (0, 1)
    }
    again = EventSpace(3, 2, keys=["a", "Left"], button_masks=[0, 1], seed=5)
    assert [again.sample() for _ in range(300)] == samples


def test_tuples_are_the_events_they_stand_for():
    space = EventSpace(10, 10)
    assert space.contains([("KeyEvent", "a", True), ("PointerEvent", 9, 9, 255)])
    assert space.contains([])
    for stranger in (None, "a", [None], [("KeyEvent", "nokey", True)], [("PointerEvent", 10, 0, 0)]):
        assert not space.contains(stranger)
    assert not EventSpace(10, 10, keys=["a"]).contains([("KeyEvent", "b", True)])
    assert not EventSpace(10, 10, button_masks=[]).contains([("PointerEvent", 1, 1, 0)])


def test_a_space_of_no_events_is_refused():
    with pytest.raises(ConfigError, match="no events"):
        EventSpace(1, 1, keys=[], button_masks=[])


def test_observations():
    space = ObservationSpace(8, 6, seed=1)
    sample = space.sample()
    assert sample["vision"].shape == (6, 8, 3)
    assert space.contains(sample)
    assert space.contains(sample | {"env_observation": 1})
    for change in (
        {"vision": sample["vision"].astype(np.float32)},
        {"vision": sample["vision"][:5]},
        {"vision": None},
        {"text": "words"},
        {"more": 1},
    ):
        assert not space.contains(sample | change)
    assert not space.contains(None)
    assert not space.contains({"vision": sample["vision"]})


def test_spaces_compare_by_value():
    assert EventSpace(8, 6) == EventSpace(8, 6)
    assert EventSpace(8, 6) != EventSpace(8, 7)
    assert EventSpace(8, 6) != EventSpace(8, 6, keys=["a"])
    assert ObservationSpace(8, 6) == ObservationSpace(8, 6)
    assert ObservationSpace(8, 6) != ObservationSpace(6, 8)
    assert not EventSpace(1, 1).is_np_flattenable
    assert not ObservationSpace(1, 1).is_np_flattenable
    assert repr(ObservationSpace(8, 6)) == "ObservationSpace(8, 6)"
    assert repr(EventSpace(8, 6, keys=["a"])) == "EventSpace(8, 6, 1 keys)"
