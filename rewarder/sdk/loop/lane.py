"""The remote's end of a step channel: it runs steps on the environment's thread, without the event loop."""

from __future__ import annotations

import asyncio
import logging
import os
import select
import time
from collections.abc import Callable
from itertools import count

from rewarder.errors import ProtocolError
from rewarder.protocol.codec import encode
from rewarder.protocol.episode import EpisodeId
from rewarder.protocol.messages import Headers, Message, ReplyError, ReplyStep, Step
from rewarder.sdk.loop.game import Game
from rewarder.sdk.loop.inbox import Inbox, step_input
from rewarder.sdk.loop.results import Collected
from rewarder.sdk.loop.ticker import Ticker
from rewarder.server.server import RewarderServer
from rewarder.steps.channel import Channel
from vnc.session import Frame

IDLE = 0.1
"""Seconds without a step after which VNC clients are shown the newest frame."""
WATCHED = 1 / 30
"""Seconds after which they are shown a newer one while steps run."""
BRIEF = 0.02
"""Seconds in which the next step usually arrives. On the event loop's thread, `Lane.run` waits for it so long, which
costs less than a turn of the event loop; anything else that arrives ends the wait."""
TURN = 0.05
"""Seconds after which it lets the event loop run in any case."""

log = logging.getLogger(__name__)


class Lane:
    """Runs the steps of one channel. `run` is called on the environment's thread.

    Attributes:
        is_open: whether steps may still arrive.
        is_shown: whether VNC clients have been shown the newest frame.
    """

    def __init__(
        self, channel: Channel, game: Game, ticker: Ticker, inbox: Inbox, rewarder: RewarderServer
    ) -> None:
        self.is_open = self.is_shown = True
        self._shown_at = 0.0
        self._is_abandoned = False
        self._channel, self._game, self._ticker = channel, game, ticker
        self._inbox, self._rewarder = inbox, rewarder
        self._loop = asyncio.get_running_loop()
        self._ids = count(1 << 32)  # apart from those of the WebSocket
        self._wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._poll = select.poll()
        self._poll.register(channel.fileno(), select.POLLIN)
        self._poll.register(self._wake, select.POLLIN)
        self._arrivals = _poll_of(self._loop)

    @property
    def pixels(self) -> Frame:
        """The newest frame. The event loop reads it only while `run` does not run."""
        return self._channel.pixels

    def show(self, frame: Frame | None) -> None:
        """Write a frame for the agent.

        Raises:
            ValueError: it does not have the shape of the screen, or is not uint8.
        """
        if frame is None:
            return
        pixels = self._channel.pixels
        if frame.shape != pixels.shape or frame.dtype != pixels.dtype:
            raise ValueError(
                f"a frame of this screen is uint8 {pixels.shape}, not {frame.dtype} {frame.shape}"
            )
        pixels[...] = frame

    def shown(self) -> None:
        """Note that VNC clients have been shown the newest frame."""
        self.is_shown, self._shown_at = True, time.monotonic()

    def fileno(self) -> int:
        """Return the descriptor of the channel."""
        return self._channel.fileno()

    # -- on the event loop's thread -----------------------------------------------------------------------------

    def interrupt(self) -> None:
        """Make `run` return as soon as no step is running."""
        if self.is_open:
            os.eventfd_write(self._wake, 1)

    def hang_up(self) -> None:
        """Close the channel, so that `run` ends."""
        self._channel.hang_up()

    def refuse_steps(self) -> None:
        """Answer the steps that arrived before a reset with an error. `run` must not run."""
        while self.is_open and (self._channel.has_message or self._ready(0) - {self._wake}):
            if (received := self._receive(wait=False)) is not None:
                self._reply(received[0], ReplyError("overtaken by a reset"))

    def _ready(self, milliseconds: float | None) -> set[int]:
        return {descriptor for descriptor, _ in self._poll.poll(milliseconds)}

    def abandon(self) -> None:
        """Keep the descriptors in `close`, because a tick never ends."""
        self._is_abandoned = True

    def close(self) -> None:
        """Release the channel. `run` must not run."""
        self.is_open = False
        if self._is_abandoned:
            return
        self._channel.close()
        os.close(self._wake)

    # -- on the environment's thread ----------------------------------------------------------------------------

    def run(self, is_watched: Callable[[], bool], wait: bool) -> bool:
        """Run steps until `interrupt`, until the channel ends, or until VNC clients are to be shown a frame.

        Args:
            is_watched: returns whether VNC clients other than the agent's are connected.
            wait: whether to wait for further steps.

        Returns:
            True if there are no more steps, without `wait`; False if something else is to be done.
        """
        began = time.monotonic()
        while self.is_open and not self._inbox.resets:
            if not self._channel.has_message:
                if wait and not self._await_message():
                    return False
                if not wait and not self._await_arrival(began + TURN):
                    return True
            received = self._receive(wait)
            if received is not None:
                self._step(*received)
            elif self.is_open and not wait:
                return True
            if not self.is_shown and is_watched() and time.monotonic() >= self._shown_at + WATCHED:
                return False
        return False

    def _await_message(self) -> bool:
        ready = self._ready(None if self.is_shown else IDLE * 1000)
        if self._wake in ready:
            os.eventfd_read(self._wake)
        return ready == {self._channel.fileno()}

    def _await_arrival(self, end: float) -> bool:
        """Wait briefly for anything that arrives for the event loop; return False if nothing does, and after `end`."""
        return time.monotonic() < end and (self._arrivals is None or bool(self._arrivals.poll(BRIEF * 1000)))

    def _receive(self, wait: bool) -> tuple[int | None, Step] | None:
        """Return the next step and its message id; None if there is none."""
        try:
            envelope = self._channel.receive(wait)
            if envelope is None:
                return None
            if isinstance(envelope.message, Step):
                return envelope.headers.message_id, envelope.message
            raise ProtocolError("a message that is not v1.env.step", 1007)
        except (OSError, ProtocolError) as error:
            self._end(error)
            return None

    def _end(self, error: Exception) -> None:
        log.info("= step channel ended: %s", error)
        self.is_open = False

    def _step(self, number: int | None, step: Step) -> None:
        try:
            events = step_input(step.events or (), step.ticks)
        except ValueError as error:
            self._reply(number, ReplyError(str(error)))
            return
        game, results = self._game, Collected()
        if game.is_over:
            game.announce(results)
            first = self._ticker.begin(game.env_id, None)
            frame = None if first is None else first.frame
            self._inbox.take_actions()
            game.begin(results, first)
            game.pace.start(time.monotonic())
        else:
            actions = self._inbox.take_actions()
            ticks, frame = self._ticker.run(events, actions, step.ticks, step.max_last_two)
            game.advance(results, ticks)
            game.pace.stepped(time.monotonic(), len(ticks))
        self.show(frame)
        self.is_shown = self.is_shown and frame is None
        self._answer(number, results, frame is not None)

    def _answer(self, number: int | None, results: Collected, is_drawn: bool) -> None:
        reply = results.reply(is_drawn)
        if reply is None:
            reply = ReplyStep(is_drawn=is_drawn, messages=[self._encoded(*each) for each in results.messages])
        if reply.messages or self._rewarder.is_observed:
            self._loop.call_soon_threadsafe(self._rewarder.tell_observers, results.messages)
        self._reply(number, reply, self._game.episode_id)

    def _encoded(self, episode_id: EpisodeId, message: Message) -> str:
        return encode(Headers(next(self._ids), time.time(), episode_id), message)

    def _reply(self, number: int | None, message: Message, episode_id: EpisodeId | None = None) -> None:
        try:
            self._channel.send(message, time.time(), episode_id, number)
        except OSError as error:
            self._end(error)


def _poll_of(loop: asyncio.AbstractEventLoop) -> select.poll | None:
    """Return what is ready when something has arrived for the event loop; None if the loop has no descriptor."""
    fileno = getattr(getattr(loop, "_selector", None), "fileno", None)  # asyncio has no public name for it
    if fileno is None:
        return None
    arrivals = select.poll()
    arrivals.register(fileno(), select.POLLIN)
    return arrivals
