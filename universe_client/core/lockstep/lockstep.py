"""Lock-step: a remote that runs for one tick per step, and a step that returns exactly that tick's frame.

A step may have several ticks; then it returns the last one's frame, or the brighter of the last two.

The input is part of the step request (`v1.env.step`), so it cannot miss its tick. The reply is sent after all other
messages of the tick, on the same connection. It contains the CRC-32 of the screen, which identifies the tick's frame
however VNC carried it and whichever driver decoded it.

A remote whose screen another program draws (Xvnc) cannot compute the checksum. There the input goes over VNC, and the
step is requested when a screen that was requested after the input has arrived. The tick's frame is the first that was
requested after the reply.

A remote on this host has a step channel (`rewarder.steps`): the agent's thread sends the step and reads the reply, and
the frame is in shared memory. Only a reply with more than a reward, such as the end of an episode, goes to the event
loop's thread, which processes it like messages of the WebSocket.

A remote is also frozen at the end of an episode: one more step, requested when the agent has received the end, begins
the next episode.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from rewarder.errors import ProtocolError
from rewarder.protocol.episode import EpisodeId
from rewarder.protocol.features import TICKS
from rewarder.protocol.messages import MAX_TICKS, Envelope, ReplyError, ReplyReset, ReplyStep, Step
from universe_client.core.frame_rule import TickScreen
from universe_client.core.link import Link, State
from universe_client.core.lockstep.step_channel import StepChannel, feed
from universe_client.core.pace import Pace
from universe_client.core.view import View
from universe_client.errors import StepRejected, StepTimeout
from vnc.events import Event, KeyEvent
from vnc.session import Session


class LockStep(Pace):
    """One request per step; both threads use it.

    `_pending` and `_failed` are plain bools that both threads write, in turn: while a step is pending the agent waits,
    and the event loop's thread clears `_pending` last, after everything that the step has brought is in place.
    """

    is_realtime = False

    def __init__(self, link: Link) -> None:
        self._link = link
        self._screen = TickScreen()
        self._channel = StepChannel(link)
        self._pending = False  # a step was requested, and its reply has not been processed
        self._failed = False  # the remote was lost, and since then it has not run an episode or been reset
        self._settled = (
            False  # the result of the last step or reset is complete, as far as the agent has looked
        )
        self._step_id: int | None = None  # the message id of the pending step
        self._input_generation = (
            0  # the session's generation that shows that the input has reached the remote
        )

    # -- called on the agent's thread ---------------------------------------------------------------------------

    def begin_reset(self) -> None:
        """Wait for the reset, unless the remote is closed permanently."""
        self._settled = self._channel.is_pending = False
        self._failed = self._link.state is State.CLOSED

    def send(self, events: Sequence[Event], observed: EpisodeId | None, ticks: int) -> bool:
        """Request `ticks` ticks, the first with `events`."""
        if not self._link.send(events, observed, partial(self._request, ticks)):
            return False
        self._settled = False
        return True

    def _request(self, ticks: int, session: Session, events: Sequence[Event]) -> None:
        step = Step([_wire(event) for event in events], ticks, self.max_last_two)
        if self._channel.is_open:
            self._channel.send(step)
            return
        self._pending = True
        if self._screen.checksum is None:
            session.send(events)
            self._link.call_soon(self._await_input)
        else:
            self._link.call_soon(self._send_step, step)

    def take(self, view: View, observed: EpisodeId | None, hold: bool) -> EpisodeId | None:
        """Take the frame of the tick."""
        episode = self._link.playing
        if episode is None or (hold and observed not in (None, episode)):
            return None
        return episode if self._has_frame(view) else None

    def _has_frame(self, view: View) -> bool:
        session = self._link.session
        if self._channel.is_open:
            return self._channel.take(view)
        return session is not None and self._screen.matches(session, view)

    def collect(self, deadline: float) -> None:
        """Wait for the reply on a step channel; a session that ends ends the wait."""
        while self._channel.is_pending and not self._failed and time.monotonic() < deadline:
            self._read(wait=True)

    def _read(self, wait: bool) -> None:
        envelope = self._channel.receive(wait)
        if envelope is None:
            return
        reply = envelope.message
        if isinstance(reply, ReplyStep) and not reply.messages:
            try:
                feed(self._link, envelope, reply)
            except ProtocolError as error:
                self._link.call_soon(self._link.end, error)
        else:
            self._pending = True
            self._link.call_soon(self._process, envelope)

    def has_news(self, view: View, observed: EpisodeId | None) -> bool:
        """Return whether the step is complete."""
        return self.is_settled(view, observed)

    def is_idle(self, observed: EpisodeId | None) -> bool:
        """Return whether no step is pending; after an interrupted step, one is."""
        return observed is None or self._failed or not self._is_pending

    @property
    def _is_pending(self) -> bool:
        if self._channel.is_pending:
            self._read(wait=False)
        return self._pending or self._channel.is_pending or self._channel.is_lost

    def is_settled(self, view: View, observed: EpisodeId | None) -> bool:
        """Return whether the wait for the last step or reset is over: its reply and frame arrived, or never will."""
        self._settled = self._settled or self._settle(view, observed)
        return self._settled

    def _settle(self, view: View, observed: EpisodeId | None) -> bool:
        link = self._link
        if self._failed:
            return True
        if observed is None and (link.playing is None or link.playing != link.running):
            return False  # a reset has not completed
        return not self._is_pending and self._has_frame(view)

    def polled(self, is_shown: bool, is_done: bool) -> None:
        """After the end of an episode, request the next."""
        if not is_shown:
            self._settled = False
        if is_done:
            self._pending = True
            self._link.call_soon(self._send_next_episode)

    def give_up(self) -> None:
        """End the connection: the remote has not replied within `reset_timeout`."""
        self._link.call_soon(self._time_out)

    # -- called on the event loop's thread ----------------------------------------------------------------------

    def _await_input(self) -> None:
        session = self._link.session
        if session is None:
            self._complete()
        else:
            self._input_generation = session.refresh()

    def _send_step(self, step: Step) -> None:
        rewarder = self._link.rewarder
        if rewarder is None:
            self._complete()
        else:
            self._step_id = rewarder.step(step)

    def _send_next_episode(self) -> None:
        if not self._link.buffer.is_between:
            self._complete()
        elif self._channel.is_open:
            self._channel.send(Step())
            self._pending = False
            self._link.wake(always=True)
        else:
            self._send_step(Step([]))

    def _process(self, envelope: Envelope) -> None:
        """Process a reply on a step channel that contains messages, or an error."""
        link, reply = self._link, envelope.message
        try:
            for message in reply.messages if isinstance(reply, ReplyStep) else ():
                if link.rewarder is not None:
                    link.rewarder.receive(message)
        except ProtocolError as error:
            link.end(error)
        if isinstance(reply, ReplyError):
            self._reject(reply)
        self._complete()
        link.update()

    def _reject(self, error: ReplyError) -> None:
        link, reason = self._link, error.message or "no reason given"
        link.end(StepRejected(f"step rejected: {reason}", remote=link.label, stage="step"))

    def watch(self) -> None:
        """Wake the agent when a reply on a step channel arrives."""
        self._channel.watch()

    def _complete(self) -> None:
        self.forget()
        self._link.wake()

    def forget(self) -> None:
        """No step is pending any more."""
        self._pending, self._step_id, self._input_generation = False, None, 0
        self._channel.is_pending = False

    def shows(self, session: Session, running: EpisodeId | None) -> bool:
        """Request a step whose input has arrived; a running episode begins when no step is pending."""
        if self._input_generation and session.generation >= self._input_generation:
            self._input_generation = 0
            self._send_step(Step([]))
        return running is not None and (not self._pending or running == self._link.playing)

    def receive(self, envelope: Envelope) -> None:
        """Process the reply to a reset or to the pending step."""
        link, message = self._link, envelope.message
        if isinstance(message, ReplyReset):
            if self._channel.is_open:
                self._channel.renew()
            else:
                self._screen.expect(message.checksum, link.session)
        elif self._step_id is not None and envelope.headers.parent_message_id == self._step_id:
            if isinstance(message, ReplyStep):
                self._screen.expect(message.checksum, link.session)
                self.forget()
            elif isinstance(message, ReplyError):
                self._reject(message)

    def enter(self, state: State) -> None:
        """Note whether the remote is lost."""
        if state in (State.LOST, State.CLOSED):
            self._failed = True
            self.forget()
            self._channel.follow(None)
        else:
            self._channel.follow(self._link.connection.steps)
            rewarder = self._link.rewarder
            self.most_ticks = MAX_TICKS if rewarder is not None and TICKS in rewarder.offer.features else 1
        if state is State.RUNNING:
            self._failed = False

    @property
    def is_quiet(self) -> bool:
        """Whether a step is pending: nothing that arrives before its reply needs the agent."""
        return self._pending or self._channel.is_pending

    @property
    def is_frozen(self) -> bool:
        """Whether an episode has ended: the remote waits for the agent to receive the end."""
        return self._link.buffer.is_between

    def _time_out(self) -> None:
        link = self._link
        if link.rewarder is not None:
            timeout = link.config.reset_timeout
            link.end(StepTimeout(f"no tick within {timeout:g} s", remote=link.label, stage="step"))


def _wire(event: Event) -> list[Any]:
    if isinstance(event, KeyEvent):
        return ["KeyEvent", event.keysym, event.down]
    return ["PointerEvent", event.x, event.y, event.button_mask]
