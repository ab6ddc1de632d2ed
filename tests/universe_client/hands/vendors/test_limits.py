"""Pictures that a model sees as they are sent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from universe_client.hands.vendors.limits import ANTHROPIC, OPENAI

SIDES = st.integers(1, 8192)
LIMITS = st.sampled_from([ANTHROPIC, OPENAI])


@given(LIMITS, SIDES, SIDES)
def test_what_fits_is_within_the_limits_and_has_the_same_proportions(limits, width, height):
    fitting = limits.fit(width, height)
    assert limits.holds(*fitting)
    assert fitting == (width, height) or not limits.holds(width, height)
    scale = max(fitting) / max(width, height)
    assert abs(fitting[0] - width * scale) <= 1 and abs(fitting[1] - height * scale) <= 1


@given(LIMITS, SIDES, SIDES)
def test_what_fills_could_not_be_larger(limits, width, height):
    filled = limits.fill(width, height)
    assert limits.holds(*filled)
    longer = max(filled) + 1
    larger = [max(1, round(side * longer / max(width, height))) for side in (width, height)]
    assert not limits.holds(*larger)


@pytest.mark.parametrize(
    ("limits", "screen", "sent"),
    [
        (ANTHROPIC, (1024, 768), (1024, 768)),
        (ANTHROPIC, (1366, 768), (1366, 768)),
        (ANTHROPIC, (1920, 1080), (1456, 819)),
        (ANTHROPIC, (3840, 2160), (1456, 819)),
        (OPENAI, (1024, 768), (1024, 768)),
        (OPENAI, (1600, 900), (1600, 900)),
        (OPENAI, (1920, 1080), (1600, 900)),
    ],
)
def test_the_usual_screens(limits, screen, sent):
    assert limits.fit(*screen) == sent
