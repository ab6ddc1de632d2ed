"""The rates at which a game runs."""

import pytest

from rewarder.protocol.sessions import ResetRequest
from rewarder.sdk.environment import Runtime
from rewarder.sdk.loop.game import Game
from rewarder.sdk.loop.results import Collected


class Ticking(Runtime):
    fps = 50
    lockstep = True


class OnADisplay(Ticking):
    display = True


class WithItsOwnTime(Ticking):
    lockstep = False


def reset(runtime, **wanted):
    game, results = Game(runtime, "test.Game-v0"), Collected()
    asked = {"fps": None, "time_scale": None} | wanted
    game.announce(results, ResetRequest(1, 1, None, None, received_at=0.0, **asked))
    return game, results.messages[-1][1]


def test_a_time_scale_changes_the_ticks_per_second_and_not_their_length():
    runtime = Ticking()
    game, described = reset(runtime, time_scale=4.0)
    assert (described.fps, described.time_scale, runtime.fps) == (50.0, 4.0, 50)
    assert game.ticks_per_second == 200
    game.pace.start(10.0)
    assert game.pace.delay(10.0) == pytest.approx(1 / 200)


def test_the_next_reset_may_return_to_real_time():
    game, _ = reset(Ticking(), time_scale=0.5, fps=100)
    assert game.ticks_per_second == 50
    game.announce(Collected(), ResetRequest(1, 2, None, None, None, None, 0.0))
    assert (game.ticks_per_second, game.time_scale) == (50, 1.0)


@pytest.mark.parametrize(("wanted", "allowed"), [(0.001, 0.1), (1000.0, 10.0), (2.0, 2.0)])
def test_time_scales_are_clipped(wanted, allowed):
    assert reset(Ticking(), time_scale=wanted)[0].time_scale == allowed


@pytest.mark.parametrize("runtime", [OnADisplay, WithItsOwnTime])
def test_time_that_does_not_pass_in_ticks_is_not_scaled(runtime):
    game, described = reset(runtime(), time_scale=4.0)
    assert (described.time_scale, game.ticks_per_second) == (1.0, 50)
