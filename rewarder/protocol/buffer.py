"""A buffer that sums rewards between two steps and delivers each exactly once.

The rules:

- Ids are compared before any state is created. Only the newest id or a newer one is accepted. Messages with an older
  id are stale: they are dropped and counted. INVARIANT: `_current`, if not None, has the id `_newest`; if it is None,
  the episode `_newest` has ended.
- An episode ends once: by the rewarder's done, by a newer id ("superseded"), by the agent (for example "time_limit"),
  by the end of the connection ("lost"), or by a reset without `begin_reset` ("reset"). An announced episode that never
  ran and never had a reward does not end: it is forgotten.
- A connection writes through its `Feed`. `disconnected` closes the feed under the same lock under which it ends the
  episode. Otherwise a connection that is still read could begin the episode again and end it a second time.
- Ended episodes wait in `_ready` for the next pop, which delivers all of them as one done. While a reset is awaited,
  they wait in `_held`. The reply to the reset drops those older than the reply's episode and moves the others to
  `_ready`.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

from rewarder.protocol.episode import RUNNING, Episode, EpisodeId, Popped
from rewarder.protocol.messages import Describe

DUPLICATE_WINDOW = 1024
"""Message ids that a connection remembers to recognise repeated messages."""
ENDED_EPISODES = 1024
"""Ended episodes that are kept separately; beyond it, they are merged."""
DETAILED_EPISODES = 2
"""Ended episodes that keep their info and text; a pop delivers those of the first one only."""


class Feed:
    """The writing end of a `RewardBuffer` for one connection, from `RewardBuffer.connect` to `disconnected`.

    Later calls have no effect: when one channel of a remote is lost, the other may still deliver messages, which belong
    to no episode. Any thread may call any method.
    """

    def __init__(self, buffer: RewardBuffer) -> None:
        self._buffer = buffer
        self._recent: deque[int] = deque()
        self._recent_set: set[int] = set()

    @property
    def is_open(self) -> bool:
        """Whether calls still have an effect."""
        return self._buffer.feed is self

    def reset_sent(self, message_id: int) -> None:
        """Mask the buffer until the reply to reset `message_id`, which replaces an earlier reset."""
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
        """Unmask the buffer if this replies to the awaited reset; return whether it does."""
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
        """Return whether this id is a repeated one, and count it if so. None is never repeated."""
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

    def describe(self, episode_id: EpisodeId, state: Describe) -> None:
        """Set an episode's state."""
        buffer = self._buffer
        with buffer._lock:
            episode = self._accept(episode_id)
            if episode is None:
                return
            episode.env_state = state.env_state
            episode.started = episode.started or state.env_state == RUNNING
            buffer._env_id = state.env_id if state.env_id is not None else buffer._env_id
            buffer._fps = state.fps if state.fps is not None else buffer._fps
            buffer._time_scale = state.time_scale if state.time_scale is not None else 1.0

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
        """Add a reward.

        Args:
            episode_id: its episode.
            reward: the amount.
            done: whether it is the episode's last.
            info: JSON values, merged into those of earlier rewards.
            sent_at: on the remote's clock, UNIX seconds.
            received_at: on the local monotonic clock.
            size: characters of the message, which count towards the bound of stored info.
        """
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
        """Set the environment observation; it replaces an earlier one."""
        buffer = self._buffer
        with buffer._lock:
            episode = self._accept(episode_id)
            if episode is not None:
                episode.env_observation = value

    def _accept(self, episode_id: EpisodeId) -> Episode | None:
        """Return the episode of this id; None if the id is stale, which is counted, or the feed is closed."""
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
    """What one remote's rewarder has sent since the last pop. Any thread may call any method.

    The buffer outlives connections. Each connection writes through its own `Feed`. The agent's side resets, ends
    episodes and pops.

    Attributes:
        feed: of the open connection; None without one.
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
        self._time_scale = 1.0
        self.feed: Feed | None = None
        self._stale = self._duplicate = self._dropped = 0

    # The I/O side

    def connect(self) -> Feed:
        """Begin a connection, whose ids are independent of earlier ones. A mask stays until the reply to a reset."""
        self.disconnected("lost")
        feed = Feed(self)
        with self._lock:
            self.feed = feed
        return feed

    def disconnected(self, reason: str = "lost") -> None:
        """End the connection. The running episode is truncated; its rewards until now remain."""
        with self._lock:
            self.feed = None
            if not self._masked:
                self._end(reason)
            self._current = self._newest = self._awaited = None
            self._held.clear()

    # The agent's side

    @property
    def fps(self) -> float | None:
        """Ticks per second, as the remote has described them last; None while unknown."""
        return self._fps

    @property
    def running(self) -> EpisodeId | None:
        """The id of the running episode; None if none runs or a reset is awaited."""
        with self._lock:
            return self._running()

    @property
    def is_between(self) -> bool:
        """Whether an episode has ended, the next one is not announced, and no reset is awaited."""
        with self._lock:
            return not self._masked and self._current is None and self._newest is not None

    def begin_reset(self) -> None:
        """Drop everything and mask the buffer: pops return nothing until the reply to a reset that is sent later."""
        with self._lock:
            self._masked = True
            self._awaited = None
            self._ready.clear()
            self._held.clear()
            if self._current is not None:
                self._current.clear()

    def end_episode(self, reason: str) -> None:
        """Truncate the running episode. No effect if an end already waits for a pop, or while masked."""
        with self._lock:
            if not self._masked and not self._ready:
                self._end(reason)

    def pop(self) -> Popped:
        """Return what has arrived since the last pop. Each reward and each end of an episode is returned once."""
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
        """Return the first of the ended episodes, with the rewards of all of them."""
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
        # At most 15 keywords: with 16, CPython collects them in a dict, which doubles the time of a pop.
        return Popped(
            reward=source.reward,
            count=source.count,
            episode_id=current.id if current else None,
            env_id=self._env_id,
            env_state=current.env_state if current else None,
            time_scale=self._time_scale,
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
