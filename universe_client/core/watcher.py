"""The interface of recorders, which follow the sessions and episodes of a remote between the agent's steps, too."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Protocol

from rewarder.protocol.episode import EpisodeId
from rewarder.protocol.messages import Envelope, Input
from rewarder.protocol.timed_input import KeyInput, TimedInput
from vnc.events import Event, KeyEvent, PointerEvent, TimedEvents
from vnc.session import Session

if TYPE_CHECKING:
    from universe_client.core.link import Link


class Watcher(Protocol):
    """All methods are called on the event loop's thread, and must return at once."""

    def connected(self, session: Session) -> None:
        """A VNC session is open; a connection to the rewarder may still be missing."""

    def began(self, session: Session, episode: EpisodeId) -> None:
        """The frames of `session` from its `generation` on show `episode`."""

    def ended(self, moment: float) -> None:
        """Frames that were complete after `moment` (monotonic) need not show the episode any longer."""

    def acted(self, episode: EpisodeId | None, timed: Sequence[TimedEvents], dropped: int) -> None:
        """Somebody else acted through another VNC connection, in `episode`; `dropped` further events are unknown."""


def attach(link: Link, watcher: Watcher) -> None:
    """Call `watcher` for all later changes, and now for the session and the episode that there are.

    To be called on the event loop's thread.
    """

    def changed(session: Session | None, episode: EpisodeId | None) -> None:
        if session is None or episode is None:
            watcher.ended(link.connection.message_time)
        else:
            watcher.began(session, episode)

    def acted(envelope: Envelope, message: Input) -> None:
        moment = link.connection.local_time
        groups = groupby(message.events, key=lambda event: event.at)
        timed = [(moment(at), [_event(event) for event in events]) for at, events in groups]
        watcher.acted(envelope.headers.episode_id, timed, message.dropped)

    link.connection.on_session, link.gate.on_change = watcher.connected, changed
    link.connection.on_input = acted
    link.connection.watch_input()
    if link.session is not None:
        watcher.connected(link.session)
        if link.playing is not None:
            watcher.began(link.session, link.playing)


def _event(event: TimedInput) -> Event:
    if isinstance(event, KeyInput):
        return KeyEvent(event.keysym, event.down)
    return PointerEvent(event.x, event.y, event.button_mask)
