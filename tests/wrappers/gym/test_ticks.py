"""Several ticks of lock-step in one message: the results are those of one message per tick."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rewarder.protocol.features import LOCKSTEP, TICKS, Offer
from rewarder.protocol.messages import Step
from rewarder.sdk.environment import Tick
from rewarder.sdk.loop.ticker import Ticker
from tests.support.drivers import DRIVERS
from tests.support.fixtures import provider
from tests.support.remotes.served import HEIGHT, WIDTH, Counting, serve_runtime
from universe_client import GymVectorEnv
from universe_client.core.lockstep.lockstep import LockStep
from universe_client.spaces.action_maps import Events, KeySets
from wrappers import (
    Crop,
    EpisodicLives,
    FrameSkip,
    FrameStack,
    Grey,
    MaxFrames,
    NoopStart,
    Resize,
    StickyActions,
)

__all__ = ["serve_runtime"]
WAYS: dict[str, dict[str, Any]] = {
    "step channel": {},
    "VNC": {"encoding": "raw"},
    "VNC, portable": {"driver": "portable"},
}
KEYS = [(), ("Left",), ("Right", "Up")]


class Flicker(Counting):
    """Every frame is brighter than the one before in some channel; a life is lost every 7 ticks."""

    def _draw(self):
        pixel = [self.ticks * 97 % 256, 255 - self.ticks * 53 % 256, (self.key + 101 * self.ticks) % 256]
        return np.tile(np.array(pixel, np.uint8), (HEIGHT, WIDTH, 1))

    def reset(self, env_id, seed):
        return Tick(super().reset(env_id, seed).frame, info={"lives": 9})

    def tick(self, events):
        tick = super().tick(events)
        return Tick(tick.frame, tick.reward / 4, tick.done, info={"lives": 9 - self.ticks // 7})


@pytest.fixture
def opened(serve_runtime):
    """Serve two runtimes whose episodes differ in length, and open an environment over them."""
    opened = []

    def open_one(**options):
        addresses = [serve_runtime(Flicker(last)) for last in (13, 30)]
        opened.append(
            GymVectorEnv(None, provider(*addresses), mode="lockstep", **({"actions": KEYS} | options))
        )
        return opened[-1]

    yield open_one
    for env in opened:
        env.close()


@pytest.fixture
def sent(monkeypatch):
    """The ticks of each step that is sent."""
    ticks: list[int] = []
    monkeypatch.setattr(
        "universe_client.core.lockstep.lockstep.Step",
        lambda *fields: ticks.append(fields[1] if len(fields) > 1 else 0) or Step(*fields),
    )
    return ticks


def one_tick_per_message(monkeypatch) -> None:
    monkeypatch.setattr(LockStep, "most_ticks", property(lambda pace: 1, lambda pace, most: None))


def film(env: Any, steps: int = 60) -> list[Any]:
    """Return what a run with fixed seeds brings."""
    dice = np.random.default_rng(5)
    observations, _ = env.reset(seed=3)
    seen = [observations.copy()]
    for _ in range(steps):
        observations, rewards, terminations, truncations, infos = env.step(dice.integers(3, size=2))
        flags = [
            infos[key].tolist() for key in ("resetting", "noop", "remote.lives", "end_reason") if key in infos
        ]
        seen.append(
            (observations.copy(), rewards.tolist(), terminations.tolist(), truncations.tolist(), flags)
        )
    return seen


def same(one: list[Any], other: list[Any]) -> None:
    for step, (ours, theirs) in enumerate(zip(one, other, strict=True)):
        assert np.array_equal(ours[0], theirs[0]), f"pixels of step {step}"
        if step:
            assert ours[1:] == theirs[1:], step


def full(env: Any) -> Any:
    lives = EpisodicLives(FrameSkip(MaxFrames(NoopStart(env, 6)), 4))
    return FrameStack(Resize(Grey(Crop(lives, 0, 0, 20, 12)), 10, 6), 2)


STACKS: dict[str, Any] = {
    "all": full,
    "no maximum": lambda env: FrameSkip(NoopStart(env, 6), 4),
    "maximum of every frame": MaxFrames,
    "sticky actions": lambda env: FrameSkip(MaxFrames(StickyActions(env, 0.3)), 3),
    "pixels inside": lambda env: FrameSkip(Grey(env), 5),
    "pixels inside the maximum": lambda env: FrameSkip(MaxFrames(Grey(env)), 3),
}


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("limit", [None, 18])
def test_it_is_the_same_as_one_message_per_tick(opened, monkeypatch, stack, limit):
    many = film(STACKS[stack](opened(max_episode_steps=limit)))
    one_tick_per_message(monkeypatch)
    same(many, film(STACKS[stack](opened(max_episode_steps=limit))))
    assert any(any(step[2]) for step in many[1:]), "an episode that ends"


def test_every_way_brings_the_same(opened):
    films = [
        film(full(opened(**WAYS[way]))) for way in WAYS if way != "VNC, portable" or "portable" in DRIVERS
    ]
    for other in films[1:]:
        same(films[0], other)


def test_a_step_is_one_message_and_one_more_where_the_no_op_frames_end(opened, sent):
    env = FrameSkip(MaxFrames(NoopStart(opened(), 6)), 4)
    env.reset(seed=3)
    left = env.env.env._left.copy()
    for _ in range(2):
        sent.clear()
        env.step(np.array([1, 2]))
        parts = [[4] if noops == 0 or noops >= 4 else [noops, 4 - noops] for noops in left]
        assert sorted(sent) == sorted(part for row in parts for part in row)
        left = np.maximum(left - 4, 0)


def test_pictures_are_drawn_where_frames_arrive(opened):
    env = opened()
    full(env)
    assert env.single_observation_space.shape == (6, 10, 1)
    assert MaxFrames(env).single_observation_space.shape == (HEIGHT, WIDTH, 3), "another set of wrappers"


def test_events_are_sent_with_every_tick(opened, sent):
    env = FrameSkip(opened(actions="events"), 3)
    env.reset(seed=3)
    sent.clear()
    env.step(([("KeyEvent", "a", True)], []))
    assert sent == [1] * 6


def test_an_own_map_says_whether_its_actions_last(opened, sent):
    class Own(KeySets):
        is_lasting = False

    env = FrameSkip(opened(actions=Own(KEYS)), 3)
    env.reset(seed=3)
    sent.clear()
    env.step(np.array([1, 1]))
    assert sent == [1] * 6 and not getattr(Events, "is_lasting", False)


def test_a_remote_that_does_not_offer_it_runs_single_ticks(opened, monkeypatch):
    reference = film(full(opened()))
    monkeypatch.setattr("rewarder.sdk.extras.TICKS", "a later feature")
    run = Ticker.run

    def run_one(ticker, events, actions=(), ticks=1, max_last_two=False):
        assert (ticks, max_last_two) == (1, False)
        return run(ticker, events, actions)

    monkeypatch.setattr(Ticker, "run", run_one)
    same(reference, film(full(opened())))


def test_a_remote_that_comes_back_without_it_is_an_error(opened, monkeypatch):
    env = opened(backoff=(0.05, 0.1))
    wrapped = MaxFrames(env)
    wrapped.reset(seed=3)
    link = env.core.remotes[0].link
    assert link.connection.needs == {TICKS}
    monkeypatch.setattr("rewarder.protocol.features.Offer.read", lambda headers: Offer(frozenset({LOCKSTEP})))
    link.connection.steps.hang_up()
    wrapped.step(np.array([0, 0]))
    errors = set()
    while not any("one tick per step" in error for error in errors):
        *_, infos = wrapped.step(np.array([0, 0]))
        errors |= {error for error in infos["error"] if error}
