"""The buffer that sums rewards between two steps and loses none.

The rules:

- Ids are compared before any state is created. Only the newest id, or a newer one, is accepted; everything
  else is stale: dropped and counted. INVARIANT: `_current`, when there is one, has the id `_newest`; when
  there is none, `_newest` has ended.
- An episode ends once: by the rewarder's done, by a newer id ("superseded"), by the agent ("time_limit" and
  the like), by the end of the connection ("lost"), or by a reset nobody masked for ("reset"). An announced
  episode that never ran and never carried a reward does not end: it is forgotten.
- Ended episodes wait in `_ready` for the next pop, which delivers them all as one done. While a reset is
  awaited they wait in `_held`; its reply drops those older than the reply's episode and frees the rest.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

from rewarder.episode import RUNNING, Episode, EpisodeId, Popped

DUPLICATE_WINDOW = 1024
"""Message ids remembered per connection; a repeat further back than this is not recognised."""
ENDED_EPISODES = 1024
"""Ended episodes kept apart; the next ones are merged into their neighbours."""
DETAILED_EPISODES = 2
"""Ended episodes that keep their info and text: one pop delivers the first one's only."""


class RewardBuffer:
    """Everything one remote's rewarder said since the agent last looked. Any thread may call any method.

    It outlives connections: the I/O side writes, the agent's side resets, ends and pops.
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
        self._recent: deque[int] = deque()
        self._recent_set: set[int] = set()
        self._stale = self._duplicate = self._dropped = 0

    # The I/O side

    def connected(self) -> None:
        """A new connection: ids of the old one mean nothing any more; a mask stays until a reset reply."""
        self.disconnected("lost")

    def disconnected(self, reason: str = "lost") -> None:
        """The connection is over: an episode the agent is in ends as truncated, its rewards are kept."""
        with self._lock:
            if not self._masked:
                self._end(reason)
            self._current = self._newest = self._awaited = None
            self._held.clear()
            self._recent.clear()
            self._recent_set.clear()

    def reset_sent(self, message_id: int) -> None:
        """`message_id` is now the one reset whose reply unmasks."""
        with self._lock:
            current = self._current
            if current is not None and not self._masked:
                if current.seen:
                    self._end("reset")
                else:
                    current.clear()
            self._masked = True
            self._awaited = message_id

    def reset_replied(self, parent_message_id: int | None, episode_id: EpisodeId | None) -> bool:
        """Unmask when this answers the awaited reset; return whether it did."""
        with self._lock:
            if self._awaited is None or parent_message_id != self._awaited:
                return False
            self._awaited = None
            self._masked = False
            first = self._newest if episode_id is None else episode_id
            if first is not None:
                self._ready += [episode for episode in self._held if episode.id >= first]
                if self._newest is None or self._newest < first:
                    self._newest, self._current = first, Episode(first)
            self._held.clear()
            return True

    def is_duplicate(self, message_id: int | None) -> bool:
        """Whether this id was seen lately on this connection; counts it if so. None never is."""
        if message_id is None:
            return False
        with self._lock:
            if message_id in self._recent_set:
                self._duplicate += 1
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
        with self._lock:
            episode = self._accept(episode_id)
            if episode is None:
                return
            episode.env_state = env_state
            episode.started = episode.started or env_state == RUNNING
            self._env_id = env_id if env_id is not None else self._env_id
            self._fps = fps if fps is not None else self._fps

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
        with self._lock:
            episode = self._accept(episode_id)
            if episode is None:
                return
            episode.started = True
            episode.reward += reward
            episode.count += 1
            episode.sent_at, episode.received_at = sent_at, received_at
            if info and not episode.add_info(info, size):
                self._dropped += 1
            if done:
                truncated = bool(info and (info.get("TimeLimit.truncated") or info.get("truncated")))
                self._end("truncated" if truncated else "terminated", terminated=not truncated)

    def text(self, episode_id: EpisodeId, text: Any, size: int = 0) -> None:
        """Append to the episode's text."""
        with self._lock:
            episode = self._accept(episode_id)
            if episode is not None and not episode.add_text(text, size):
                self._dropped += 1

    def observation(self, episode_id: EpisodeId, value: Any) -> None:
        """Set the episode's generic observation; the last one wins."""
        with self._lock:
            episode = self._accept(episode_id)
            if episode is not None:
                episode.observation = value

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

    def _accept(self, episode_id: EpisodeId) -> Episode | None:
        """The episode this id may still change; None, and counted, when it is stale."""
        newest, current = self._newest, self._current
        if newest is None or newest < episode_id:
            self._end("superseded")
            self._newest = episode_id
            self._current = current = Episode(episode_id)
        elif current is None or current.id != episode_id:
            self._stale += 1
            return None
        return current

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
            observation=source.observation,
            info=source.info,
            stale=self._stale,
            duplicate=self._duplicate,
            dropped=self._dropped,
            running=self._running(),
            sent_at=source.sent_at,
            received_at=source.received_at,
        )
