"""How the time of a remote relates to the agent's steps: independent of them (here), or in lock-step (`lockstep`)."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rewarder.protocol.episode import EpisodeId
from rewarder.protocol.messages import Envelope
from universe_client.core.frame_rule import WholeScreen, is_current
from universe_client.core.view import View
from vnc.events import Event
from vnc.session import Session

if TYPE_CHECKING:
    from universe_client.core.link import Link, State


class Pace(ABC):
    """What real time and lock-step do differently for one remote. The parts of its `Link` and its `Remote` call it.

    A method that is not abstract does nothing here, as in real time.

    Attributes:
        is_realtime: whether the remote runs while the agent does not step.
        most_ticks: how many ticks a step may have.
        max_last_two: whether the remote is to show the brighter of its last two frames; `most_ticks` must be above 1.
    """

    is_realtime: ClassVar[bool]
    most_ticks = 1
    max_last_two = False

    # -- called on the event loop's thread ----------------------------------------------------------------------

    @abstractmethod
    def shows(self, session: Session, running: EpisodeId | None) -> bool:
        """Something has arrived: return whether the agent may act in `running`, and look for its frames."""

    @abstractmethod
    def forget(self) -> None:
        """A reset is about to be requested, or the connection ends: whatever is pending never completes."""

    def receive(self, envelope: Envelope) -> None:  # noqa: B027
        """Process a message of the rewarder."""

    def watch(self) -> None:  # noqa: B027
        """The agent waits for any remote: wake it also for a reply that it reads itself."""

    def enter(self, state: State) -> None:  # noqa: B027
        """The link enters `state`."""

    @property
    def is_quiet(self) -> bool:
        """Whether arrivals do not wake the agent now."""
        return False

    @property
    def is_frozen(self) -> bool:
        """Whether the remote waits for the agent, so that no deadline applies to it."""
        return False

    # -- called on the agent's thread ---------------------------------------------------------------------------

    @abstractmethod
    def send(self, events: Sequence[Event], observed: EpisodeId | None, ticks: int) -> bool:
        """Send `events`, meant for the episode that the agent has `observed`; return False if they are dropped.

        In lock-step they are for the next 1 to `most_ticks` ticks.
        """

    @abstractmethod
    def take(self, view: View, observed: EpisodeId | None, hold: bool) -> EpisodeId | None:
        """Bring `view` up to date; return the episode whose frame it holds, None if it may not be shown.

        With `hold`, a frame of another episode than the `observed` one is not taken.
        """

    @abstractmethod
    def has_news(self, view: View, observed: EpisodeId | None) -> bool:
        """Return whether a poll would find a new frame, the end of the `observed` episode, or a first frame."""

    def next_look(self, look: float) -> None:  # noqa: B027
        """The next poll is at the time `look`, in seconds of `time.monotonic()`."""

    def begin_reset(self) -> None:  # noqa: B027
        """The agent asks for a reset."""

    def collect(self, deadline: float) -> None:  # noqa: B027
        """Wait for the reply to a step, if it is to be read on this thread, until `deadline` (monotonic)."""

    def is_idle(self, observed: EpisodeId | None) -> bool:
        """Return whether `send` may be called."""
        return True

    def is_settled(self, view: View, observed: EpisodeId | None) -> bool:
        """Return whether a poll may be made."""
        return True

    def polled(self, is_shown: bool, is_done: bool) -> None:  # noqa: B027
        """A poll has returned a frame or none, and the end of an episode or none."""

    def give_up(self) -> None:  # noqa: B027
        """The agent does not wait for this remote any longer: it is lost."""


class RealTime(Pace):
    """The remote runs on its own: input goes over VNC at once, and a poll takes the newest frame."""

    is_realtime = True

    def __init__(self, link: Link) -> None:
        self._link = link
        self._screen = WholeScreen()
        self._next_look = 0.0

    def shows(self, session: Session, running: EpisodeId | None) -> bool:
        """See `WholeScreen.shows`."""
        return self._screen.shows(session, running)

    def forget(self) -> None:
        """Request the whole screen again."""
        self._screen.forget()

    def send(self, events: Sequence[Event], observed: EpisodeId | None, ticks: int) -> bool:
        """Send `events` in one write, from this thread."""
        return self._link.send(events, observed, _transmit)

    def take(self, view: View, observed: EpisodeId | None, hold: bool) -> EpisodeId | None:
        """Take the newest frame if its episode is certain; see `frame_rule` for the conditions."""
        link = self._link
        episode, session = link.gate.playing, link.connection.session
        if episode is None or session is None:
            return None
        if observed is not None and ((hold and observed != episode) or session is not view.session):
            return None  # the end of the observed episode is to be reported first
        if session is not view.session:
            view.follow(session)
        if session.frames == view.number:
            now = time.monotonic()
            if now >= self._next_look:  # a look that is early may come before the request of an update
                view.seen_time = now  # the screen still looks like this
            if observed == episode:
                return episode
        elif not is_current(link, episode, session.frame_time):
            # The event loop is late: show the frame before, if its episode has not ended as far as is known.
            return episode if observed == episode == link.playing else None
        elif not view.take():
            return None
        return episode if is_current(link, episode, view.frame_time) else None

    def next_look(self, look: float) -> None:
        """Let the session request an update shortly before the look, instead of every update."""
        session = self._link.session
        if session is not None and self._link.playing is not None:
            self._next_look = look
            session.next_look(look)

    def has_news(self, view: View, observed: EpisodeId | None) -> bool:
        """Return whether there is a first frame, the end of the `observed` episode, or a newer frame of it."""
        link = self._link
        playing, session = link.gate.playing, link.connection.session
        if observed is None:
            return playing is not None and playing == link.running
        if playing != observed:
            return True
        return session is not None and (session is not view.session or session.frames != view.number)


def _transmit(session: Session, events: Sequence[Event]) -> None:
    session.send(events)
