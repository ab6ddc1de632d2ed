"""The buffer that sums rewards between two steps and loses none.

The rules:

- Ids are compared before any state is created. Only the newest id, or a newer one, is accepted; everything
  else is stale: dropped and counted. INVARIANT: `_current`, when there is one, has the id `_newest`; when
  there is none, `_newest` has ended.
- An episode ends once: by the rewarder's done, by a newer id ("superseded"), by the agent ("time_limit" and
  the like), by the end of the connection ("lost"), or by a reset nobody masked for ("reset"). An announced
  episode that never ran and never carried a reward does not end: it is forgotten.
- A connection writes through its `Feed`. `disconnected` closes it in the same step in which it ends the episode,
  so that a connection which is still read cannot begin the episode again, and end it a second time.
- Ended episodes wait in `_ready` for the next pop, which delivers them all as one done. While a reset is
  awaited they wait in `_held`; its reply drops those older than the reply's episode and frees the rest.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

from rewarder.protocol.episode import RUNNING, Episode, EpisodeId, Popped

DUPLICATE_WINDOW = 1024
"""Message ids remembered per connection; a repeat further back than this is not recognised."""
ENDED_EPISODES = 1024
"""Ended episodes kept apart; the next ones are merged into their neighbours."""
DETAILED_EPISODES = 2
"""Ended episodes that keep their info and text: one pop delivers the first one's only."""


class Feed:
    """What one connection writes into a `RewardBuffer`, from `RewardBuffer.connect` to `disconnected`.

    Nothing that is written later has an effect: when one channel of a remote is lost, the other may still be read for
    a while, and what it brings then belongs to no episode. Any thread may call any method.
    """

    def __init__(self, buffer: RewardBuffer) -> None:
        self._buffer = buffer
        self._recent: deque[int] = deque()
        self._recent_set: set[int] = set()

    @property
    def is_open(self) -> bool:
        """Whether the buffer takes what this connection writes."""
        return self._buffer.feed is self

    def reset_sent(self, message_id: int) -> None:
        """`message_id` is now the one reset whose reply unmasks."""
        buffer = self._buffer
        with buffer._lock:
            if not self.is_open:
                return
            current = buffer._current
            if current is not None and not buffer._masked:
                if current.seen:
                    buffer._end("reset")
                else:
                    current.clear()
            buffer._masked = True
            buffer._awaited = message_id

    def reset_replied(self, parent_message_id: int | None, episode_id: EpisodeId | None) -> bool:
        """Unmask when this answers the awaited reset; return whether it did."""
        buffer = self._buffer
        with buffer._lock:
            if not self.is_open or buffer._awaited is None or parent_message_id != buffer._awaited:
                return False
            buffer._awaited = None
            buffer._masked = False
            first = buffer._newest if episode_id is None else episode_id
            if first is not None:
                buffer._ready += [episode for episode in buffer._held if episode.id >= first]
                if buffer._newest is None or buffer._newest < first:
                    buffer._newest, buffer._current = first, Episode(first)
            buffer._held.clear()
            return True

    def is_duplicate(self, message_id: int | None) -> bool:
        """Whether this id was seen lately on this connection; counts it if so. None never is."""
        if message_id is None:
            return False
        buffer = self._buffer
        with buffer._lock:
            if message_id in self._recent_set:
                buffer._duplicate += 1
                return True
            self._recent.append(message_id)
            self._recent_set.add(message_id)
            if len(self._recent) > DUPLICATE_WINDOW:
                self._recent_set.discard(self._recent.popleft())
            return False

    def describe(
        self, episode_id: EpisodeId, env_id: str | None, env_state: str | None, fps: float | None
    ) -> None:
        """The rewarder told an episode's state."""
        buffer = self._buffer
        with buffer._lock:
            episode = self._accept(episode_id)
            if episode is None:
                return
            episode.env_state = env_state
            episode.started = episode.started or env_state == RUNNING
            buffer._env_id = env_id if env_id is not None else buffer._env_id
            buffer._fps = fps if fps is not None else buffer._fps

    def reward(
        self,
        episode_id: EpisodeId,
        reward: float,
        done: bool,
        info: dict[str, Any] | None = None,
        sent_at: float | None = None,
        received_at: float | None = None,
        size: int = 0,
    ) -> None:
        """Add a reward; `size` is the message's length on the wire, which bounds the info held."""
        buffer = self._buffer
        with buffer._lock:
            episode = self._accept(episode_id)
            if episode is None:
                return
            episode.started = True
            episode.reward += reward
            episode.count += 1
            episode.sent_at, episode.received_at = sent_at, received_at
            if info and not episode.add_info(info, size):
                buffer._dropped += 1
            if done:
                truncated = bool(info and (info.get("TimeLimit.truncated") or info.get("truncated")))
                buffer._end("truncated" if truncated else "terminated", terminated=not truncated)

    def text(self, episode_id: EpisodeId, text: Any, size: int = 0) -> None:
        """Append to the episode's text."""
        buffer = self._buffer
        with buffer._lock:
            episode = self._accept(episode_id)
            if episode is not None and not episode.add_text(text, size):
                buffer._dropped += 1

    def env_observation(self, episode_id: EpisodeId, value: Any) -> None:
        """Set the episode's generic observation; the last one wins."""
        buffer = self._buffer
        with buffer._lock:
            episode = self._accept(episode_id)
            if episode is not None:
                episode.env_observation = value

    def _accept(self, episode_id: EpisodeId) -> Episode | None:
        """The episode this id may still change; None when it is stale, which is counted, or the connection is over."""
        if not self.is_open:
            return None
        buffer = self._buffer
        newest, current = buffer._newest, buffer._current
        if newest is None or newest < episode_id:
            buffer._end("superseded")
            buffer._newest = episode_id
            buffer._current = current = Episode(episode_id)
        elif current is None or current.id != episode_id:
            buffer._stale += 1
            return None
        return current


class RewardBuffer:
    """Everything that one remote's rewarder sent since the agent last looked. Any thread may call any method.

    It outlives connections: each writes through a `Feed` of its own; the agent's side resets, ends and pops.

    Attributes:
        feed: of the connection that is open now; None while there is none.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._newest: EpisodeId | None = None
        self._current: Episode | None = None
        self._ready: list[Episode] = []
        self._held: list[Episode] = []
        self._masked = False
        self._awaited: int | None = None
        self._env_id: str | None = None
        self._fps: float | None = None
        self.feed: Feed | None = None
        self._stale = self._duplicate = self._dropped = 0

    # The I/O side

    def connect(self) -> Feed:
        """Begin a new connection: the old one is over, and its ids mean nothing; a mask stays until a reset reply."""
        self.disconnected("lost")
        feed = Feed(self)
        with self._lock:
            self.feed = feed
        return feed

    def disconnected(self, reason: str = "lost") -> None:
        """End the connection: an episode that the agent is in ends as truncated, with what it has brought by now."""
        with self._lock:
            self.feed = None
            if not self._masked:
                self._end(reason)
            self._current = self._newest = self._awaited = None
            self._held.clear()

    # The agent's side

    @property
    def running(self) -> EpisodeId | None:
        """The newest episode, when it is running and no reset is awaited."""
        with self._lock:
            return self._running()

    @property
    def is_between(self) -> bool:
        """Whether an episode is over, the next is not announced yet, and no reset is awaited."""
        with self._lock:
            return not self._masked and self._current is None and self._newest is not None

    def begin_reset(self) -> None:
        """Drop what is there and mask: nothing is poppable until a reset sent after this call is answered."""
        with self._lock:
            self._masked = True
            self._awaited = None
            self._ready.clear()
            self._held.clear()
            if self._current is not None:
                self._current.clear()

    def end_episode(self, reason: str) -> None:
        """Truncate the episode the agent is in; no effect if its end already waits, or while masked."""
        with self._lock:
            if not self._masked and not self._ready:
                self._end(reason)

    def pop(self) -> Popped:
        """Take everything since the last pop; each reward and each end of an episode comes out once."""
        with self._lock:
            ended = self._take_ended()
            current = None if self._masked else self._current
            popped = self._popped(ended or current or Episode(EpisodeId(())), current)
            if current is not None:
                current.seen = True
            if ended is not None:
                popped = ended.complete(popped)
            elif current is not None:
                current.clear()
            self._stale = self._duplicate = self._dropped = 0
            return popped

    # Under the lock

    def _running(self) -> EpisodeId | None:
        current = self._current
        if self._masked or current is None or current.env_state != RUNNING:
            return None
        return current.id

    def _end(self, reason: str, *, terminated: bool = False) -> None:
        episode, self._current = self._current, None
        if episode is None or not episode.started:
            return
        episode.terminated, episode.end_reason = terminated, reason
        queue = self._held if self._masked else self._ready
        if len(queue) >= DETAILED_EPISODES:
            episode.strip()
        queue.append(episode)
        if len(queue) > ENDED_EPISODES:
            queue[2].absorb(queue.pop(1))

    def _take_ended(self) -> Episode | None:
        """The first of the episodes that have ended, with the return of them all."""
        if not self._ready:
            return None
        first, *others = self._ready
        self._ready = []
        for other in others:
            first.absorb(other)
            if other.count:
                first.sent_at, first.received_at = other.sent_at, other.received_at
        return first

    def _popped(self, source: Episode, current: Episode | None) -> Popped:
        # No more than 15 keywords: with 16, Python makes a dict of them first, and a pop takes twice as long.
        return Popped(
            reward=source.reward,
            count=source.count,
            episode_id=current.id if current else None,
            env_id=self._env_id,
            env_state=current.env_state if current else None,
            fps=self._fps,
            text=source.text,
            env_observation=source.env_observation,
            info=source.info,
            stale=self._stale,
            duplicate=self._duplicate,
            dropped=self._dropped,
            running=self._running(),
            sent_at=source.sent_at,
            received_at=source.received_at,
        )
