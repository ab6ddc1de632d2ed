"""The rule: when a frame may be shown to the agent as part of an episode.

VNC and the rewarder use two connections, and nothing orders the messages of one against those of the other. A frame is
shown as part of episode E only if four conditions hold:

1. **E runs.** The rewarder has reported E as running, it has announced no newer episode, and no reset waits for its
   reply. A remote without a rewarder runs one endless episode from its first reset on. See `Link.running`.
2. **The frame shows E.** In real time, every pixel was drawn after condition 1 became true: the client requests the
   whole screen at that moment, and the frame is at least as new as the answer (`WholeScreen`). In lock-step, the frame
   shows the tick that the newest reply of the rewarder is about (`TickScreen`); a step channel's frame always does.
3. **The rewarder's messages are as new as the frame.** All messages that had arrived when the frame was complete are
   processed, and E still runs (`is_current`). In lock-step this follows from condition 2: the reply is sent after all
   other messages of the tick, on the same connection.
4. **The step agrees.** The rewards that the same step returns were taken while E was running (`agreed`).

The event loop's thread checks conditions 1 and 2 (in lock-step: 1) and publishes E as `Link.playing`. The agent's
thread checks the others in each `Remote.poll`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rewarder.protocol.episode import EpisodeId
from universe_client.core.view import View
from vnc.session import Session

if TYPE_CHECKING:
    from universe_client.core.link import Link


class WholeScreen:
    """Condition 2 in real time. Used on the event loop's thread."""

    def __init__(self) -> None:
        self._episode: EpisodeId | None = None  # the episode for which the whole screen was requested
        self._generation = 0  # the session's generation that holds it

    def forget(self) -> None:
        """Request the whole screen again, even if the episode stays the same."""
        self._episode = None

    def shows(self, session: Session, running: EpisodeId | None) -> bool:
        """Return whether every pixel in the framebuffer was drawn after `running` became the running episode.

        The first call with another episode requests the whole screen.
        """
        if running != self._episode:
            self._episode = running
            self._generation = 0 if running is None else session.refresh()
        return running is not None and session.generation >= self._generation


class TickScreen:
    """Condition 2 in lock-step. `expect` runs on the event loop's thread, `matches` on the agent's.

    Attributes:
        checksum: the CRC-32 of the tick's frame; None if the remote cannot compute one, because another program draws
            its screen. Then the tick's frame is the first that was requested after the reply.
    """

    def __init__(self) -> None:
        self.checksum: int | None = None
        self._generation = 0

    def expect(self, checksum: int | None, session: Session | None) -> None:
        """Note what the newest reply of the rewarder reports about the screen."""
        if checksum is None and session is not None:
            self._generation = session.refresh()
        self.checksum = checksum

    def matches(self, session: Session, view: View) -> bool:
        """Copy the newest frame into `view`; return whether it is the tick's."""
        view.follow(session)
        if self.checksum is None and session.generation < self._generation:
            return False
        if self.checksum is not None:
            view.need_checksum()
        if session.frames != view.number and not view.take():
            return False
        return self.checksum in (None, view.checksum)


def is_current(link: Link, episode: EpisodeId, frame_time: float) -> bool:
    """Condition 3: return whether `episode` was still running when the frame of `frame_time` was complete."""
    # The order matters: `playing` is meaningful only after the messages have been processed.
    return link.await_processed(frame_time) and link.playing == episode


def agreed(taken: EpisodeId | None, running: EpisodeId | None) -> EpisodeId | None:
    """Condition 4: return the episode of the frame if it is the episode of the rewards, else None."""
    return taken if taken == running else None
