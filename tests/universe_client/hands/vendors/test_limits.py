"""Pictures that a model sees as they are sent."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from universe_client.hands import Click, InvalidAction
from universe_client.hands.vendors.limits import ANTHROPIC, OPENAI
from universe_client.hands.vendors.sight import Sight, base64_of

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


@pytest.mark.parametrize(("limits", "sent"), [(ANTHROPIC, (1456, 819)), (OPENAI, (1600, 900))])
def test_a_screen_that_is_too_large_is_sent_within_the_limits(computer, limits, sent):
    """4K of noise, which compresses worst."""
    noise = np.random.default_rng(0).integers(0, 256, (2160, 3840, 3), np.uint8)
    hands, _ = computer(picture=noise, has_rewarder=False)
    sight = Sight(hands, limits)
    picture = replace(sight.look(), format="jpeg")
    assert (picture.width, picture.height) == sight.size() and limits.holds(*sight.size())
    assert sight.size() == sent
    assert len(base64_of(picture)) < 5_000_000, "what the APIs take"
    with pytest.raises(InvalidAction, match=f"x=2000 is outside the picture, which is {sent[0]}x{sent[1]}"):
        sight.act([Click(2000, 10)])
