"""Guards the calls of a computer: one thread at a time, and nothing stays down when a call fails."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from universe_client.errors import LocalStateError
from universe_client.hands.acts import Acts
from universe_client.hands.channel import Channel
from universe_client.hands.errors import InvalidAction
from universe_client.vector_env import VectorEnv


class Use(Acts):
    """The part of `Computer` that guards its calls."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._owned: VectorEnv | None = None
        self._busy = threading.Lock()
        self._polling = threading.Lock()

    def refresh(self) -> None:
        """Pass what has arrived from the remote on to the observers, unless a call is in progress; on any thread.

        Other calls do this, too. Use it to keep the observers up to date between calls.

        Raises:
            LocalStateError: the environment is closed.
        """
        if not self._polling.acquire(blocking=False):
            return
        try:
            if self._channel.is_shown:
                self._channel.look()
        finally:
            self._polling.release()

    def interrupt(self) -> None:
        """Have the call that another thread is in raise LocalStateError; what it holds down is released.

        No effect if none is.
        """
        self._channel.interrupt()

    def close(self) -> None:
        """Release what is down, and close the connection if `open` made it; idempotent."""
        try:
            self._channel.close()
        finally:
            if self._owned is not None:
                self._owned.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @contextmanager
    def _using(self, starts: bool = True) -> Iterator[None]:
        """One thread at a time; inside there is an episode, and if the call fails nothing stays down."""
        if not self._busy.acquire(blocking=False):
            raise LocalStateError("another thread uses this Computer: one thread at a time")
        try:
            with self._polling:
                yield from self._guarded(starts)
        finally:
            self._busy.release()

    def _guarded(self, starts: bool) -> Iterator[None]:
        try:
            self._channel.interrupt(False)
            if starts:
                self._channel.await_episode()
                self._begin()
            yield
        except InvalidAction:
            raise
        except BaseException:
            self._channel.release()
            raise

    @abstractmethod
    def _begin(self) -> None:
        """Bring everything up to date at the beginning of a call."""
