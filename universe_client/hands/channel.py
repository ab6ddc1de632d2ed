"""One remote of an environment as its hands use it: its frames, its input, and what its episode has brought."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from rewarder.errors import ControllerBusy
from universe_client.core.remote import Slot
from universe_client.core.vector import RemoteVector
from universe_client.errors import ConfigError, LocalStateError, RemoteError, ResetTimeout
from universe_client.vector_env import VectorEnv
from vnc.events import Event, KeyEvent, PointerEvent
from vnc.session import Frame

BUSY_FOR = 2.0
"""Seconds in which another client may leave."""


class Observer(Protocol):
    """Is told what a remote gets and brings. The methods must return soon, and must not raise."""

    def reset(self, options: Mapping[str, object]) -> None:
        """A reset, with the arguments of `VectorEnv.reset`."""

    def act(self, index: int, action: Sequence[Event]) -> None:
        """Input of remote `index`."""

    def receive(
        self, index: int, observation: Mapping[str, Any] | None, reward: float | None, info: Mapping[str, Any]
    ) -> None:
        """What has come from remote `index`, as a step returns it; the pixels are a view that the next look changes."""


@dataclass
class _Shared:
    """What the channels of one environment share: only one thread may poll it, and one channel use a remote."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    taken: set[int] = field(default_factory=set)


_shared: WeakKeyDictionary[RemoteVector, _Shared] = WeakKeyDictionary()
_shared_lock = threading.Lock()


class Channel:
    """Polls one remote, so that nobody has to step.

    Attributes:
        done: whether the episode has ended; then nothing is polled until the next `reset`.
        end_reason: why, see `universe_client.core.info.SCHEMA`.
        failure: the error that ended it, if the remote was lost.
        reward, episode_reward: the sums since the last `collect`, and of the episode.
        instruction: the first text of the episode.
        texts: all texts since the last `collect`.
    """

    def __init__(self, env: VectorEnv, index: int, observers: Sequence[Observer] = ()) -> None:
        """Take remote `index` of an environment, and tell `observers` what happens.

        Raises:
            ConfigError: there is no such remote, or the environment is in lock-step or only watches.
            LocalStateError: the remote is taken.
        """
        if not 0 <= index < env.n:
            raise ConfigError(f"index={index} is not a remote of {env!r}: 0 <= index < {env.n}")
        if env.config.mode != "realtime" or env.config.observer:
            raise ConfigError("a Computer needs mode='realtime' and observer=False")
        self._core, self._index, self._observers = env.core, index, observers
        self._remote = env.core.remotes[index]
        self._mask = [each == index for each in range(env.n)]
        with _shared_lock:
            self._shared = _shared.setdefault(env.core, _Shared())
            if index in self._shared.taken:
                raise LocalStateError(f"another Computer drives remote {index} of {env!r}: close it first")
            self._shared.taken.add(index)
        self._core.allow_pauses()
        self._news = threading.Event()
        self._interrupted = False
        self._forget()

    def _forget(self) -> None:
        self.done, self.end_reason = False, ""
        self.failure: RemoteError | None = None
        self.reward = self.episode_reward = 0.0
        self.instruction: str | None = None
        self.texts: list[str] = []
        self.is_shown = False

    @property
    def label(self) -> str:
        """`index (address)`, for errors."""
        return self._remote.link.label

    @property
    def frame(self) -> Frame:
        """The newest frame, as a view that the next `look` changes."""
        return self._remote.view.read_only

    @property
    def frame_number(self) -> int:
        """It stays the same only while the frame does."""
        return self._remote.view.taken

    @property
    def frame_time(self) -> float:
        """`time.monotonic()` when the frame was complete."""
        return self._remote.view.frame_time

    @property
    def held(self) -> tuple[tuple[int, ...], PointerEvent | None]:
        """The keysyms that are down, and the newest pointer event of the episode."""
        return self._remote.link.held

    @property
    def round_trip(self) -> float:
        """Seconds to the remote and back, as the rewarder's connection measures it; 0.0 while unknown."""
        rewarder = self._remote.link.rewarder
        return 0.0 if rewarder is None else rewarder.clock.rtt or 0.0

    @property
    def buttons(self) -> int:
        """How many buttons the remote's VNC server knows, wheels included.

        Without ExtendedMouseButtons RFB has an eighth, but servers such as Xvnc ignore it.
        """
        session = self._remote.link.session
        return 9 if session is not None and session.more_buttons else 7

    # -- episodes ----------------------------------------------------------------------------------------------------

    def reset(self, seed: int | None = None, env_id: str | None = None) -> None:
        """Ask for an episode; the first time of all remotes, if nobody has."""
        with self._shared.lock:
            if not self._core.was_reset:
                self._core.reset()
            seeds = [seed if mine else None for mine in self._mask]
            env_ids = [env_id if mine else None for mine in self._mask]
            for observer in self._observers:
                observer.reset({"seed": seeds, "mask": self._mask, "env_ids": env_ids})
            self._core.reset(seed=seeds, mask=self._mask, env_ids=env_ids)
        self._forget()

    def await_episode(self) -> None:
        """Wait for the first frame of an episode, if none is shown; ask for the episode if nobody has.

        Raises:
            RemoteError: the remote fails permanently, or is not there within `reset_timeout`.
        """
        if self.is_shown or self.done:
            return
        if not self._core.was_reset:
            self.reset()
        timeout = self._core.config.reset_timeout
        began = time.monotonic()
        with self.listening():
            while not self.look():
                failure = self.failure
                if failure is not None and (failure.permanent or self._is_busy(failure, began)):
                    raise failure
                if not self.wait(began + timeout):
                    raise self._late(timeout)

    @staticmethod
    def _is_busy(failure: RemoteError, began: float) -> bool:
        """Whether another client controls the remote, and has for too long to be our own lost connection."""
        return isinstance(failure.__cause__, ControllerBusy) and time.monotonic() >= began + BUSY_FOR

    def _late(self, timeout: float) -> RemoteError:
        last = "" if self.failure is None else f"; the last error: {self.failure}"
        message = f"no picture within {timeout:g} s{last}"
        return ResetTimeout(message, remote=self.label, stage="reset")

    # -- looking -----------------------------------------------------------------------------------------------------

    def look(self) -> bool:
        """Take the newest frame, rewards and texts of the episode; return whether there is a frame."""
        if not self.done:
            self._note(self._poll())
        return self.is_shown

    def _poll(self) -> Slot:
        with self._shared.lock:
            try:
                return self._core.poll(self._mask, copy=False, hold=True)[self._index]
            except RemoteError:  # on_error="raise": the next poll reports it
                return self._core.poll(self._mask, copy=False, hold=True)[self._index]

    def _note(self, slot: Slot) -> None:
        for observer in self._observers:
            observer.receive(self._index, slot.observation, slot.reward, slot.info)
        self.reward += slot.reward or 0.0
        self.episode_reward += slot.reward or 0.0
        was_shown = self.is_shown
        self.is_shown = slot.observation is not None
        if slot.observation is not None:
            self.texts += map(str, slot.observation["text"])
            self.instruction = self.instruction or next(iter(self.texts), None)
        if slot.info["error"] is not None:
            self.failure = self._remote.error
        elif self.is_shown:
            self.failure = None
        if slot.done and was_shown:
            self.done = self.is_shown = True  # the view holds the last frame
            self.end_reason = slot.info["end_reason"] or "ended"
        elif slot.done:  # an episode that was never shown
            self.reward = self.episode_reward = 0.0

    def collect(self) -> tuple[float, str | None]:
        """Return the rewards and texts since the last call."""
        reward, self.reward = self.reward, 0.0
        texts, self.texts = self.texts, []
        return reward, "\n".join(texts) or None

    # -- acting ------------------------------------------------------------------------------------------------------

    def send(self, events: Sequence[Event]) -> bool:
        """Send input; return False if it was dropped, because the episode is over."""
        if not events:
            return True
        with self._shared.lock:
            sent = not self.done and self._core.act(self._index, events)
        if sent:
            for observer in self._observers:
                observer.act(self._index, events)
        return sent

    def release(self) -> None:
        """Release every key and button that is down."""
        keys, pointer = self.held
        events: list[Event] = [KeyEvent(key, False) for key in reversed(keys)]
        if pointer is not None and pointer.button_mask:
            events.append(PointerEvent(pointer.x, pointer.y, 0))
        if events and not self._core.closed:
            self.send(events)

    # -- waiting -----------------------------------------------------------------------------------------------------

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Inside, `wait` is woken by whatever comes from the environment's remotes, frames included."""
        with self._core.following(self._news):
            yield

    def wait(self, deadline: float) -> bool:
        """Wait for news until `deadline` (monotonic); return False if none came.

        Raises:
            LocalStateError: `interrupt` was called, or the environment is closed.
        """
        came = self._news.wait(max(0.0, deadline - time.monotonic()))
        self._news.clear()
        if self._interrupted:
            raise LocalStateError("the call was interrupted; nothing stays pressed")
        self._core.check_open()
        return came

    def pause(self, seconds: float) -> bool:
        """Let time pass, at most until the episode ends; return whether it goes on."""
        deadline = time.monotonic() + seconds
        while self.look() and not self.done and time.monotonic() < deadline:
            self.wait(deadline)
        return not self.done

    def interrupt(self, interrupted: bool = True) -> None:
        """Have `wait` raise, in whichever thread it is called."""
        self._interrupted = interrupted
        if interrupted:
            self._news.set()

    def close(self) -> None:
        """Release what is down, and give the remote free for another channel; idempotent."""
        if self._index not in self._shared.taken:
            return
        try:
            self.release()
        finally:
            self._shared.taken.discard(self._index)
