"""The largest pictures that a vendor's models see as they are sent."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PictureLimits:
    """A model cuts a picture into square patches. It scales down, or refuses, a picture that has too many of them."""

    edge: int
    """Pixels of the longer side."""
    patch: int
    """Pixels of a patch's side."""
    patches: int

    def holds(self, width: int, height: int) -> bool:
        """Return whether a picture of this size is seen as it is sent."""
        across, down = -(-width // self.patch), -(-height // self.patch)
        return max(width, height) <= self.edge and across * down <= self.patches

    def fit(self, width: int, height: int) -> tuple[int, int]:
        """Return the size at which a picture is sent: its own, or the largest with the same proportions."""
        return (width, height) if self.holds(width, height) else self.fill(width, height)

    def fill(self, width: int, height: int) -> tuple[int, int]:
        """Return the largest size with the proportions of width to height that the limits hold."""
        longer = max(width, height)
        for side in range(self.edge, 0, -1):
            size = max(1, round(width * side / longer)), max(1, round(height * side / longer))
            if self.holds(*size):
                return size
        raise AssertionError("a picture of one pixel has one patch")


ANTHROPIC = PictureLimits(edge=1568, patch=28, patches=1568)
"""Every Claude model sees these. The newest see up to 2576 pixels and 4784 patches, at three times the tokens.

Source: the vendor's page on vision, table of the maximum resolutions.
"""

OPENAI = PictureLimits(edge=1600, patch=32, patches=1450)
"""Up to 1600x900, with which the vendor's guide to computer use found that clicks are most accurate."""
