"""Episode ids: how they are read and written, and their order."""

from __future__ import annotations

import pytest

from rewarder.protocol.episode import EpisodeId


def eid(value: int | str) -> EpisodeId:
    return EpisodeId.parse(value)


def test_ids_are_ordered_by_their_parts():
    values = ["1", "1.1", "1.2", "1.10", "2", "10"]
    assert sorted(map(eid, reversed(values))) == [eid(value) for value in values]


@pytest.mark.parametrize("value", ["7", "1.2", "0", "1.2.3"])
def test_wire_form(value):
    assert str(eid(value)) == value


def test_integers_and_strings_are_the_same_id():
    assert eid(7) == eid("7") == eid("007")
    assert len({eid(7), eid("7")}) == 1


@pytest.mark.parametrize(
    "value", ["", "a", "-1", -1, "1.", ".1", "1..2", "1 ", "٣", "9" * 19, "1" + ".1" * 8]
)
def test_other_things_are_refused(value):
    with pytest.raises(ValueError, match="episode id"):
        eid(value)
