"""NeonDrive: deterministic, quick, hard for a random agent and easy for one that looks."""

import random
from typing import NamedTuple

import numpy as np
import pytest

from rewarder.runtimes.neon.drive import ENV_ID, LANES, NeonDrive
from rewarder.runtimes.neon.scene import HEIGHT, WIDTH
from rewarder.sdk.keys import DOWN, LEFT, RIGHT, UP
from vnc.events import KeyEvent

ARROWS = (LEFT, RIGHT, UP, DOWN)


@pytest.fixture(scope="module")
def game():
    """The game, its pictures drawn; every test resets it."""
    game = NeonDrive()
    game.open()
    yield game
    game.close()


@pytest.fixture(scope="module")
def slow_game():
    """The same minute in a quarter of the ticks."""
    game = NeonDrive(fps=15)
    game.open()
    yield game
    game.close()


class Keyboard:
    """Turns "these keys are held" into events."""

    def __init__(self):
        self.held = frozenset()

    def hold(self, keys):
        events = [KeyEvent(key, False) for key in sorted(self.held - keys)]
        events += [KeyEvent(key, True) for key in sorted(keys - self.held)]
        self.held = keys
        return events


class RandomAgent:
    """Holds a random subset of the arrows for a random while."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.left = 0

    def keys(self, frame):
        if self.left == 0:
            self.left = self.random.randrange(1, 30)
            self.chosen = frozenset(key for key in ARROWS if self.random.random() < 0.3)
        self.left -= 1
        return self.chosen


class LookingAgent:
    """An agent that uses the frame only: it finds its car, the bend of the road, traffic and rings."""

    def keys(self, frame):
        red, green, blue = (frame[..., channel].astype(int) for channel in range(3))
        self.traffic = (red > 140) & (green < 110) & (blue < 60)
        self.ring = (green > 180) & (green - red > 60) & (green - blue > 60)
        edge = np.flatnonzero((blue[118] > 190) & (green[118] > 150))
        own = np.flatnonzero(((blue - red > 60) & (green > 80))[196, 60:260]) + 60
        self.player = (own.mean() - WIDTH / 2) / (0.55 * 150 / 1.27) if own.size else 0.0
        middle = (edge.min() + edge.max()) / 2 if edge.size else WIDTH / 2
        scale = 30 / 152
        self.bend = (middle - WIDTH / 2 + 0.45 * self.player * 150 * scale) / (1 - scale) ** 2
        lane = max(LANES, key=self.worth)
        if abs(lane - self.player) < 0.1:
            return frozenset()
        return frozenset((RIGHT if lane > self.player else LEFT,))

    def worth(self, lane):
        clear = self.nearest(self.traffic, lane, 0.35)
        ring = self.nearest(self.ring, lane, 1.1)
        return clear + (1.0 if ring < clear and ring < 5 else 0.0) - 0.8 * abs(lane - self.player)

    def nearest(self, mask, lane, above):
        """Return the depth at which `mask` first shows on `lane`."""
        for depth in np.arange(1.3, 6, 0.1):
            scale = 1 / depth
            x = round(WIDTH / 2 + (lane - 0.45 * self.player) * 150 * scale + self.bend * (1 - scale) ** 2)
            y = round(88 + 152 * scale - above * 0.19 * 150 * scale)
            if mask[y - 1 : y + 2, max(x - 3, 0) : x + 4].sum() >= 3:
                return depth
        return 6.0


class End(NamedTuple):
    score: float
    ticks: int
    truncated: bool


def play(game, agent, seed):
    """Return how one episode ended."""
    frame, keyboard, score, ticks = game.reset(ENV_ID, seed).frame, Keyboard(), 0.0, 0
    while True:
        tick = game.tick(keyboard.hold(agent.keys(frame)))
        frame, score, ticks = tick.frame, score + tick.reward, ticks + 1
        if tick.done:
            return End(score, ticks, tick.truncated)


def test_frames_have_the_announced_shape(game):
    frame = game.reset(ENV_ID, 0).frame
    assert frame.shape == (HEIGHT, WIDTH, 3) == (game.height, game.width, 3)
    assert frame.dtype == np.uint8


def recording(game, seed):
    """Return all frames and rewards of an episode of random input."""
    agent, keyboard = RandomAgent(7), Keyboard()
    ticks = [game.reset(ENV_ID, seed)]
    while not ticks[-1].done:
        ticks.append(game.tick(keyboard.hold(agent.keys(None))))
    return np.stack([tick.frame for tick in ticks]), [tick.reward for tick in ticks]


def test_same_seed_and_events_same_pixels_and_rewards(game):
    frames, rewards = recording(game, 11)
    again, rewards_again = recording(game, 11)
    assert rewards == rewards_again
    assert np.array_equal(frames, again)


def test_another_process_would_draw_the_same(game):
    other = NeonDrive()
    other.open()
    assert np.array_equal(recording(game, 5)[0], recording(other, 5)[0])


def test_another_seed_is_another_road(game):
    assert not np.array_equal(recording(game, 1)[0][100], recording(game, 2)[0][100])


def test_every_tick_changes_most_of_the_screen(game):
    frames, _ = recording(game, 3)
    changed = (frames[1:] != frames[:-1]).any(axis=3).mean(axis=(1, 2))
    assert changed.min() > 0.5


def test_keys_steer_within_a_fifth_of_a_second(game):
    def car_after(key, ticks):
        game.reset(ENV_ID, 0)
        game.tick([KeyEvent(key, True)])
        for _ in range(ticks - 1):
            tick = game.tick([])
        agent = LookingAgent()
        agent.keys(tick.frame)
        return agent.player

    assert car_after(LEFT, 12) < -0.1
    assert car_after(RIGHT, 12) > 0.1
    assert car_after(ord("a"), 12) == car_after(LEFT, 12)
    assert car_after(ord("d"), 12) == car_after(RIGHT, 12)


def test_up_is_faster_than_nothing_is_faster_than_down(game):
    def ticks_to_first_crash(key):
        game.reset(ENV_ID, 1)
        events = [KeyEvent(key, True)] if key else []
        for ticks in range(2000):
            if game.tick(events if ticks == 0 else []).done:
                return ticks
        raise AssertionError("the middle lane was free for half a minute")

    assert ticks_to_first_crash(UP) < ticks_to_first_crash(None) < ticks_to_first_crash(DOWN)


def test_reset_forgets_held_keys(game):
    game.reset(ENV_ID, 0)
    game.tick([KeyEvent(LEFT, True)])
    game.reset(ENV_ID, 0)
    held = game.tick([]).frame
    game.reset(ENV_ID, 0)
    assert np.array_equal(held, game.tick([]).frame)


def test_a_crash_costs_one_and_ends_the_episode(game):
    game.reset(ENV_ID, 1)
    tick = game.tick([])
    while not tick.done:
        tick = game.tick([])
    assert (tick.reward, tick.truncated) == (-1.0, False)


@pytest.fixture(scope="module")
def looked(slow_game):
    """How the episodes of an agent that uses pixels ended."""
    return [play(slow_game, LookingAgent(), seed) for seed in range(2)]


def test_after_a_minute_the_episode_is_truncated(looked):
    assert max(end.ticks for end in looked) == 15 * 60
    assert all(end.truncated == (end.ticks == 15 * 60) for end in looked)


def test_a_random_agent_crashes_in_seconds(game):
    lives = [play(game, RandomAgent(seed), seed).ticks / 60 for seed in range(20)]
    assert 3 < np.median(lives) < 15


def test_looking_pays_at_least_five_times(game, looked):
    blind = np.mean([play(game, RandomAgent(seed), seed).score for seed in range(10)])
    seeing = np.mean([end.score for end in looked])
    print(f"random {blind:.1f}, looking {seeing:.1f}")
    assert seeing >= 5 * max(blind, 1)


def test_a_frame_that_nobody_sees_is_not_drawn_except_at_the_end():
    unseen, seen = NeonDrive(), NeonDrive()
    for game in (unseen, seen):
        game.open()
        game.reset(ENV_ID, 3)
    unseen.frame_wanted = False
    while not (tick := unseen.tick([])).done:
        assert tick.frame is None and seen.tick([]).reward == tick.reward
    assert np.array_equal(tick.frame, seen.tick([]).frame)
