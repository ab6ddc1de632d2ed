"""Features beyond v0, which both ends of a rewarder connection announce in the HTTP headers of the upgrade."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from rewarder.sanitize import clean

LOCKSTEP = "lockstep"
"""The client steps the environment: see `messages.Step`."""
ENV_OBSERVATION = "observation"
"""The rewarder sends environment observations: see `messages.EnvObservationSpace`."""

TICKS = "ticks"
"""The rewarder runs several ticks per step, and shows the brighter of the last two frames: see `messages.Step`."""

INPUT = "input"
"""The rewarder reports what others than the client press, if the client asks: see `messages.WatchInput`."""

_OFFERS = "Universe-Offers"
_WANTS = "Universe-Wants"
_CALLS = "Universe-Calls"
_STEPS = "Universe-Steps"


class Headers(Protocol):
    """HTTP headers; `websockets.datastructures.Headers` implements this."""

    def get_all(self, key: str) -> list[str]:
        """Return the values of all headers with this name."""
        ...


@dataclass(frozen=True, slots=True)
class Offer:
    """What a rewarder supports beyond v0, from its response to the upgrade; empty if it announces nothing."""

    features: frozenset[str] = frozenset()
    """A subset of `LOCKSTEP`, `TICKS`, `ENV_OBSERVATION` and `INPUT`."""
    calls: frozenset[str] = frozenset()
    """Names of the environment's attributes that clients may call, read and set: see `messages.Call`."""
    steps: str = ""
    """The address of a step channel for this client only: see `rewarder.steps`."""

    def headers(self) -> dict[str, str]:
        """Return the response headers that announce this offer."""
        announced = {_OFFERS: self.features, _CALLS: self.calls, _STEPS: {self.steps} - {""}}
        return {name: ", ".join(sorted(names)) for name, names in announced.items() if names}

    @classmethod
    def read(cls, headers: Headers) -> Offer:
        """Return the offer that a server's response announces."""
        return cls(_names(headers, _OFFERS), _names(headers, _CALLS), ",".join(_names(headers, _STEPS)))


def want(features: Iterable[str]) -> dict[str, str]:
    """Return the request headers with which a client asks for `features`."""
    names = ", ".join(sorted(features))
    return {_WANTS: names} if names else {}


def wanted(headers: Headers) -> frozenset[str]:
    """Return the features that a client's request asks for."""
    return _names(headers, _WANTS)


def _names(headers: Headers, key: str) -> frozenset[str]:
    names = (clean(name.strip()) for value in headers.get_all(key) for name in value.split(","))
    return frozenset(name for name in names if name)
