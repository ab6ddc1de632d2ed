"""Random interleavings of wire messages, resets, losses and pops against a model that only knows sets.

A connection that was lost is still read, and so is the one before it: nothing that they bring may count.

Every reward is a different power of two, so a sum shows exactly which messages it contains.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rewarder.protocol.buffer import RewardBuffer
from rewarder.protocol.episode import EpisodeId
from rewarder.protocol.messages import Reset
from rewarder.protocol.sessions import ClientSession

Id = tuple[int, int]
"""The number of a connection, and of an episode on it."""


class Model:
    """The expected results, as sets of bits instead of sums."""

    def __init__(self) -> None:
        self.epoch = 0
        self.lost = False
        self.newest: Id = (0, -1)
        self.ended: set[Id] = set()
        self.started: set[Id] = set()
        self.seen: set[Id] = set()
        self.running: set[Id] = set()
        self.bits: dict[Id, set[int]] = {}
        self.waiting: list[tuple[Id, bool]] = []
        """Ended, not popped; and whether it ended while masked."""
        self.masked = False
        self.awaited: int | None = None
        self.stale = 0
        self.kept: set[int] = set()

    @property
    def current(self) -> Id | None:
        return None if self.newest[1] < 0 or self.newest in self.ended else self.newest

    def accept(self, episode: Id) -> bool:
        if self.lost:
            return False
        if episode < self.newest or episode in self.ended:
            self.stale += 1
            return False
        if episode > self.newest:
            self.end()
            self.newest = episode
        return True

    def end(self) -> None:
        episode = self.current
        if episode is not None:
            self.ended.add(episode)
            if episode in self.started:
                self.waiting.append((episode, self.masked))

    def drop(self, episode: Id) -> None:
        self.kept -= self.bits.pop(episode, set())

    def describe(self, number: int, running: bool) -> None:
        episode = (self.epoch, number)
        if self.accept(episode):
            self.running.discard(episode)
            if running:
                self.running.add(episode)
                self.started.add(episode)

    def reward(self, number: int, bit: int, done: bool) -> None:
        episode = (self.epoch, number)
        if self.accept(episode):
            self.started.add(episode)
            self.bits.setdefault(episode, set()).add(bit)
            self.kept.add(bit)
            if done:
                self.end()

    def begin_reset(self) -> None:
        for episode in list(self.bits):
            self.drop(episode)
        self.waiting.clear()
        self.masked, self.awaited = True, None

    def reset_sent(self, message_id: int) -> None:
        if self.lost:
            return
        if not self.masked and self.current is not None:
            if self.current in self.seen:
                self.end()
            else:
                self.drop(self.current)
        self.masked, self.awaited = True, message_id

    def reply(self, parent: int, number: int) -> None:
        if parent != self.awaited:
            return
        first = (self.epoch, number)
        for episode, held in list(self.waiting):
            if held and episode < first:
                self.waiting.remove((episode, held))
                self.drop(episode)
        if self.newest < first:
            if self.current is not None:
                self.drop(self.current)
            self.newest = first
        self.waiting = [(episode, False) for episode, _ in self.waiting]
        self.masked, self.awaited = False, None

    def end_episode(self) -> None:
        if not self.masked and not self.waiting:
            self.end()

    def lose(self) -> None:
        if not self.masked:
            self.end()
        ended = {episode for episode, held in self.waiting if not held}
        for episode in list(self.bits):
            if episode not in ended:
                self.drop(episode)
        self.waiting = [(episode, held) for episode, held in self.waiting if not held]
        self.epoch += 1
        self.newest, self.awaited, self.lost = (self.epoch, -1), None, True

    def reconnect(self) -> None:
        self.lose()
        self.lost = False

    def now_running(self) -> Id | None:
        return None if self.masked or self.current not in self.running else self.current

    def pop(self) -> tuple[set[int], list[Id]]:
        ready = [episode for episode, held in self.waiting if not held or not self.masked]
        current = None if self.masked else self.current
        taken = ready or ([] if current is None else [current])
        self.waiting = [each for each in self.waiting if each[0] not in ready]
        if current is not None:
            self.seen.add(current)
        return set().union(*(self.bits.pop(episode, set()) for episode in taken)), ready


class Trial:
    """Drives a real session and the model with one script of bytes."""

    def __init__(self) -> None:
        self.buffer = RewardBuffer()
        self.model = Model()
        self.session = self.late = ClientSession(self.buffer)
        """The connection now, and the one before it, if there was one: it is read as long as the one after it."""
        self.resets: list[int] = [-1]
        self.sent: list[str] = []
        self.message_id = 0
        self.next_bit = 0
        self.duplicates = 0
        self.popped: set[int] = set()
        self.over: set[Id] = set()

    def send(self, method: str, number: int, body: str, **headers: int) -> None:
        self.message_id += 1
        extra = "".join(f',"{name}":{value}' for name, value in headers.items())
        frame = (
            f'{{"method":"v0.{method}","headers":{{"message_id":{self.message_id},"sent_at":1.0,'
            f'"episode_id":"{number}"{extra}}},"body":{body}}}'
        )
        self.sent.append(frame)
        if self.late is not self.session:
            self.late.receive(frame.replace('"message_id":', '"message_id":1000'), 0.0, 0.0)
        self.session.receive(frame, 0.0, 0.0)

    def step(self, script: Iterator[int]) -> None:
        kind, number = next(script) % 16, next(script, 0) % 8
        if kind < 5:
            bit, self.next_bit, done = self.next_bit, self.next_bit + 1, kind == 0
            self.send("env.reward", number, f'{{"reward":{1 << bit},"done":{str(done).lower()},"info":{{}}}}')
            self.model.reward(number, bit, done)
        elif kind < 8:
            state = "resetting" if kind == 7 else "running"
            self.send("env.describe", number, f'{{"env_id":"a","env_state":"{state}","fps":60}}')
            self.model.describe(number, kind != 7)
        elif kind < 10:
            self.pop()
        elif kind == 10 and self.sent:
            self.session.receive(self.sent[-1 - number % min(len(self.sent), 8)], 0.0, 0.0)
            self.duplicates += not self.model.lost
        else:
            self.control(kind, number)

    def control(self, kind: int, number: int) -> None:
        if kind == 11:
            self.buffer.begin_reset()
            self.model.begin_reset()
        elif kind == 12:
            self.resets.append(self.session.reset(Reset("a", None, 60), 0.0))
            self.model.reset_sent(self.resets[-1])
        elif kind == 13:
            parent = self.resets[-1 - (number % 2 if len(self.resets) > 1 else 0)]
            self.send("reply.env.reset", number, "null", parent_message_id=parent)
            self.model.reply(parent, number)
        elif kind == 14:
            self.buffer.end_episode("time_limit")
            self.model.end_episode()
        elif number == 0:
            self.reconnect()
        elif number == 1:
            self.buffer.disconnected("lost")
            self.model.lose()

    def reconnect(self) -> None:
        self.buffer.disconnected("lost")
        self.model.reconnect()
        self.late, self.session = self.session, ClientSession(self.buffer)
        self.resets, self.sent, self.message_id = [-1], [], 0

    def pop(self) -> None:
        popped = self.buffer.pop()
        bits, ready = self.model.pop()
        assert popped.reward == sum(1 << bit for bit in bits)
        assert popped.count == len(bits)
        assert not bits & self.popped
        self.popped |= bits
        assert popped.terminated + popped.truncated == bool(ready)
        assert not self.over & set(ready)
        self.over |= set(ready)
        assert popped.complete_episode_id == (EpisodeId((ready[0][1],)) if ready else None)
        assert popped.skipped_episodes == max(len(ready) - 1, 0)
        assert (popped.stale, popped.duplicate) == (self.model.stale, self.duplicates)
        self.model.stale = self.duplicates = 0

    def check_running(self) -> None:
        running = self.model.now_running()
        assert self.buffer.running == (None if running is None else EpisodeId((running[1],)))


@pytest.mark.timeout(1800)
@settings(max_examples=10_000, suppress_health_check=list(HealthCheck))
@given(st.binary(max_size=60))
def test_no_interleaving_loses_or_doubles_a_reward_or_ends_an_episode_twice(script):
    trial, rest = Trial(), iter(script)
    while True:
        try:
            trial.step(rest)
        except StopIteration:
            break
        trial.check_running()
    if trial.model.lost:
        trial.reconnect()
    if trial.model.masked:
        trial.control(12, 0)
        trial.control(13, 0)
    trial.pop()
    trial.pop()
    assert trial.popped == trial.model.kept
