"""What every vendor's tool does with a `Computer`: act at once, and look when the screen has come to rest."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from universe_client.hands.actions import Action
from universe_client.hands.computer import Computer
from universe_client.hands.errors import InvalidAction
from universe_client.hands.outcome import Outcome, Region
from universe_client.hands.pictures import Picture
from universe_client.hands.vendors.limits import PictureLimits


class Sight:
    """A computer whose pictures a vendor's models see as they are sent."""

    def __init__(self, computer: Computer, limits: PictureLimits) -> None:
        """Use `computer`. If its pictures are beyond `limits`, they become smaller from now on."""
        self.computer, self._limits = computer, limits
        self.size()

    def size(self) -> tuple[int, int]:
        """Return (width, height) of the pictures, within the limits also after the remote's screen has grown."""
        size = self.computer.size
        if self._limits.holds(*size):
            return size
        self.computer.screenshot(self._limits.fit(*size)[0] / self.computer.screen_size[0])
        return self.computer.size

    def act(self, actions: Sequence[Action]) -> None:
        """Play actions, and return at once. If the episode ends, the rest is not played.

        Raises:
            InvalidAction: one cannot be played; nothing was sent.
            LocalStateError: the episode has ended before.
            RemoteError: the remote was lost.
        """
        self.size()
        self.computer.do(actions, settle=False, picture=False)

    def look(self) -> Picture:
        """Return the whole screen when it has come to rest; after the end of the episode, its last frame.

        Raises:
            RemoteError: the remote is lost.
        """
        self.size()
        if self.computer.done:
            return self.computer.screenshot(self.size()[0] / self.computer.screen_size[0])
        return picture_of(self.computer.do([]))

    def zoom(self, corners: tuple[int, int, int, int]) -> Picture:
        """Return the part of the picture between two corners (x0, y0, x1, y1), as large as the model sees it.

        Raises:
            InvalidAction: the part is empty, or not within the picture.
        """
        x0, y0, x1, y1 = corners
        if not (0 <= x0 < x1 <= self.computer.size[0] and 0 <= y0 < y1 <= self.computer.size[1]):
            width, height = self.computer.size
            raise InvalidAction(
                f"region {list(corners)} is not in the picture, which is {width}x{height}: it needs "
                f"0 <= x0 < x1 <= {width} and 0 <= y0 < y1 <= {height}"
            )
        region = Region(x0, y0, x1 - x0, y1 - y0)
        return self.computer.screenshot(self._scale(region), region)

    def _scale(self, region: Region) -> float:
        """Return the pixels of the zoomed picture per pixel of the screen."""
        per_pixel = self.computer.screen_size[0] / self.computer.size[0]
        width, height = self._limits.fill(region.width, region.height)
        return min(width / region.width, height / region.height) / per_pixel


def picture_of(outcome: Outcome) -> Picture:
    """Return the picture of an outcome that has one."""
    assert outcome.picture is not None
    return outcome.picture


def base64_of(picture: Picture) -> str:
    """Return the encoded picture as the vendors' APIs take it."""
    return base64.b64encode(picture.data).decode("ascii")
