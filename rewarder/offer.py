"""What both ends of a rewarder connection say at the upgrade of what they can do, and want, beyond v0."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from websockets.datastructures import Headers

from rewarder.text import clean

LOCKSTEP = "lockstep"
"""The environment can be stepped: see `messages.Step`."""
OBSERVATION = "observation"
"""The environment's own observations can be had: see `messages.ObservationSpace`."""

_OFFERS = "Universe-Offers"
_WANTS = "Universe-Wants"
_CALLS = "Universe-Calls"


@dataclass(frozen=True, slots=True)
class Offer:
    """What a rewarder can do beyond v0, as it says in the response to an upgrade; nothing, if it is not one of ours."""

    features: frozenset[str] = frozenset()
    """Of `LOCKSTEP` and `OBSERVATION`; a client says which of them it wants."""
    calls: frozenset[str] = frozenset()
    """Names that may be called, read and set in the environment: see `messages.Call`."""

    def headers(self) -> dict[str, str]:
        """Return the response headers that say so."""
        said = {_OFFERS: self.features, _CALLS: self.calls}
        return {name: ", ".join(sorted(words)) for name, words in said.items() if words}

    @classmethod
    def read(cls, headers: Headers) -> Offer:
        """Read what a server's response says."""
        return cls(_words(headers, _OFFERS), _words(headers, _CALLS))


def want(features: Iterable[str]) -> dict[str, str]:
    """Return the request headers in which a client says what it wants."""
    words = ", ".join(sorted(features))
    return {_WANTS: words} if words else {}


def wanted(headers: Headers) -> frozenset[str]:
    """Read what a client's request says."""
    return _words(headers, _WANTS)


def _words(headers: Headers, name: str) -> frozenset[str]:
    words = (clean(word.strip()) for value in headers.get_all(name) for word in value.split(","))
    return frozenset(word for word in words if word)
