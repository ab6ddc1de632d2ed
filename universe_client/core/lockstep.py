"""Lock-step: a remote that lives for one tick per step, and shows exactly that tick's pixels.

The input travels inside `v1.env.step`, so it cannot miss its tick. The reply comes after everything the tick brought,
on the same connection; it has the checksum of the screen, and the frame whose pixels have that checksum is the tick's:
however VNC carried it, and whichever driver decoded it.

A remote whose screen is another program's (Xvnc) tells no checksum. Input reaches it over VNC, before the step: a
screen that was asked for after the input has come. The tick's frame is the first that was asked for after the reply.

The end of an episode freezes the remote, too: when the agent has been told, one more step begins the next episode.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

from rewarder.protocol.episode import EpisodeId
from rewarder.protocol.messages import Envelope, ReplyError, ReplyReset, ReplyStep
from universe_client.core.link import Link, State
from universe_client.core.remote import Remote, Slot
from universe_client.errors import StepRejected, StepTimeout
from vnc.events import Event, KeyEvent
from vnc.session import Session


class LockstepLink(Link):
    """A link to a remote that is stepped.

    Attributes:
        stepping: a step was asked for and is not answered yet.
        failed: the remote was lost, and no episode has been asked for or seen since.
        checksum: of the screen, as the newest answer has it; None if it tells none.
        fresh: without one, the generation of the session that holds the pixels of the newest answer.
    """

    def __init__(self, *parts: Any) -> None:
        """Take the parts of a `Link`."""
        super().__init__(*parts)
        self.stepping = self.failed = False
        self.checksum: int | None = None
        self.fresh = 0
        self._step_id: int | None = None
        self._heard = 0  # the generation that shows that the input of a step has come
        self._wake, self._on_change = self._on_change, self._changed

    # -- the agent's thread -------------------------------------------------------------------------------------

    def step(self, events: Sequence[Event], episode: EpisodeId | None) -> bool:
        """Ask for one tick of `episode` with `events`, if that is the one being played; return whether it was."""
        with self._lock:
            session = self.session
            if session is None or episode is None or episode != self.playing:
                return False
            self._held.note(events)
            self.stepping = True
            if self.checksum is None:
                session.send(events)
                self._loop.call_soon_threadsafe(self._send_when_heard)
                return True
        self._loop.call_soon_threadsafe(self._send_step, [_wire(event) for event in events])
        return True

    def go_on(self) -> None:
        """Ask for the next episode, if one is over."""
        self.stepping = True
        self._loop.call_soon_threadsafe(self._send_go_on)

    def give_up(self) -> None:
        """Call the remote lost: it has not answered for too long."""
        self._loop.call_soon_threadsafe(self._step_timed_out)

    # -- the loop's ---------------------------------------------------------------------------------------------

    def _send_step(self, events: Sequence[Sequence[object]]) -> None:
        if self.rewarder is None:
            self._answered()
        else:
            self._step_id = self.rewarder.step(events)

    def _send_when_heard(self) -> None:
        if self.session is None:
            self._answered()
        else:
            self._heard = self.session.refresh()

    def _update(self) -> None:
        if self._heard and self.session is not None and self.session.generation >= self._heard:
            self._heard = 0
            self._send_step(())
        super()._update()

    def _changed(self) -> None:
        """Nothing that comes in the middle of a step is worth waking the agent."""
        if not self.stepping:
            self._wake()

    def _send_go_on(self) -> None:
        if self.buffer.is_between:
            self._send_step(())
        else:
            self._answered()

    def _forget_step(self) -> None:
        self.stepping, self._step_id, self._heard = False, None, 0

    def _answered(self) -> None:
        self._forget_step()
        self._on_change()

    def reset(self, seed: int | None, env_id: str | None = None) -> None:
        """See `Link.reset`; a step that is not answered yet never will be."""
        self._forget_step()
        super().reset(seed, env_id)

    def _on_message(self, envelope: Envelope) -> None:
        message = envelope.message
        if isinstance(message, ReplyReset):
            self._expect(message.checksum)
        elif self._step_id is not None and envelope.headers.parent_message_id == self._step_id:
            if isinstance(message, ReplyStep):
                self._expect(message.checksum)
                self._forget_step()
            elif isinstance(message, ReplyError):
                reason = message.message or "no reason given"
                self._end(StepRejected(f"step rejected: {reason}", remote=self.label, stage="step"))
        super()._on_message(envelope)

    def _expect(self, checksum: int | None) -> None:
        self.checksum = checksum
        if checksum is None and self.session is not None:
            self.fresh = self.session.refresh()

    def _is_shown(self, session: Session, episode: EpisodeId | None) -> bool:
        """An episode is on from the answer that began it; whether its pixels are here, `LockstepRemote` finds out."""
        return episode is not None and (not self.stepping or episode == self.playing)

    def _enter(self, state: State) -> None:
        if state in (State.LOST, State.CLOSED):
            self.failed = True
            self._forget_step()
        elif state is State.RUNNING:
            self.failed = False
        super()._enter(state)

    def _start_deadline(self) -> None:
        """A remote that is frozen at the end of an episode is not late."""
        if not self.buffer.is_between:
            super()._start_deadline()

    def _step_timed_out(self) -> None:
        if self.rewarder is not None:
            timeout = self._config.reset_timeout
            self._end(StepTimeout(f"no tick within {timeout:g} s", remote=self.label, stage="step"))


class LockstepRemote(Remote):
    """The agent's end of a `LockstepLink`."""

    link: LockstepLink

    def __init__(self, link: LockstepLink) -> None:
        super().__init__(link)
        self._settled = False
        self._checksum: int | None = None  # of `_frame`

    def begin_reset(self) -> None:
        """See `Remote.begin_reset`."""
        self._settled = False
        self.link.failed = self.link.state is State.CLOSED
        super().begin_reset()

    def send(self, events: Sequence[Event]) -> None:
        """Ask for one tick with `events`; they are dropped and counted if there is no episode to step."""
        self._masked_events = 0
        if self.link.step(events, self._observed):
            self._settled = False
        else:
            self._masked_events = len(events)

    @property
    def idle(self) -> bool:
        """Whether no tick is asked for and unanswered; there is one after a step that was interrupted."""
        return self._observed is None or self.link.failed or not self.link.stepping

    @property
    def fresh(self) -> bool:
        """See `settled`."""
        return self.settled

    @property
    def settled(self) -> bool:
        """Whether the answer to the last step or reset, and its pixels, are here; or there will be none."""
        self._settled = self._settled or self._settle()
        return self._settled

    def _settle(self) -> bool:
        link = self.link
        if link.failed:
            return True
        if self._observed is None and (link.playing is None or link.playing != link.buffer.running):
            return False  # a reset is on its way
        return not link.stepping and self._has_pixels()

    def poll(self, copy: bool = True, hold: bool = False) -> Slot:
        """See `Remote.poll`; what the remote waits for when an episode is over is that it was told here."""
        slot = super().poll(copy, hold)
        if slot.observation is None:
            self._settled = False
        if slot.done:
            self.link.go_on()
        return slot

    def _take(self, hold: bool = False) -> EpisodeId | None:
        episode = self.link.playing
        if episode is None or (hold and self._observed not in (None, episode)):
            return None
        return episode if self._has_pixels() else None

    def _has_pixels(self) -> bool:
        """Bring `_frame` up to date; return whether it is what the newest answer is about."""
        session = self.link.session
        if session is None:
            return False
        if session is not self._session:
            self._session, self._frame_number, self._counted = session, 0, (0, 0, 0, 0)
        wanted = self.link.checksum
        if wanted is None:
            shown = session.generation >= self.link.fresh
            return shown and (session.frames == self._frame_number or self._take_newest(session))
        if session.frames != self._frame_number:
            self._checksum = zlib.crc32(self._frame.data) if self._take_newest(session) else None
        return self._checksum == wanted


def _wire(event: Event) -> list[Any]:
    if isinstance(event, KeyEvent):
        return ["KeyEvent", event.keysym, event.down]
    return ["PointerEvent", event.x, event.y, event.button_mask]
