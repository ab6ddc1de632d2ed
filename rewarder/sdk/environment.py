"""What an environment is to the SDK: the class to subclass, and what a tick brings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from numpy.typing import NDArray

from vnc.events import Event
from vnc.session import Frame


class Box(Protocol):
    """Arrays of one shape and dtype between two; `gymnasium.spaces.Box` is one."""

    @property
    def low(self) -> NDArray[Any]:
        """The lower bounds."""
        ...

    @property
    def high(self) -> NDArray[Any]:
        """The upper bounds."""
        ...


@dataclass(frozen=True, slots=True)
class Tick:
    """What one tick of an environment brought."""

    frame: Frame | None = None
    """The whole screen, (height, width, 3) RGB; None leaves it as it is."""
    reward: float = 0.0
    done: bool = False
    """The episode is over: the next one is begun at once."""
    truncated: bool = False
    """With `done`: it was cut short from outside (a time limit), not ended by what happened in it."""
    text: object | None = None
    env_observation: object | None = None
    info: Mapping[str, object] = field(default_factory=dict)


class Runtime:
    """One environment that lives in real time; subclass it.

    Every method is called on one thread that belongs to this runtime, never on the event loop's, and never two
    at once. An exception ends the remote: its clients are told the exception's class.
    """

    env_ids: Sequence[str] = ()
    """What a client may ask for; the first is played when nobody asks."""
    fps: float = 60
    """Ticks per second. A client may ask for others: this is then set before `reset`."""
    width: int = 0
    height: int = 0
    display: bool = False
    """True if the screen is an X display with a VNC server of its own: no frames go out, no events come in."""
    lockstep: bool = False
    """True if time passes in `tick` only, and by 1 / fps seconds each: clients may then step it one by one."""
    stepped: bool = False
    """Whether a client does, now."""

    env_observation_space: Box | None = None
    """What `Tick.env_observation` is from, if clients may ask for it; known after `open`."""
    env_observation_wanted: bool = False
    """Whether a client has asked for it; a runtime may tell it unasked."""
    inside: object | None = None
    """Whose listed attributes clients may call, read and set; known after `open`."""

    def open(self) -> None:
        """Get ready, before anything listens; the last moment to set `fps`, `width` and `height`."""

    def reset(self, env_id: str, seed: int | None) -> Tick | None:
        """Begin an episode; return its first frame. Keys held before are no longer held.

        Without a seed an episode should follow from the last seed given, as in Gymnasium.
        """
        raise NotImplementedError

    def tick(self, events: Sequence[Event]) -> Tick:
        """Live for 1 / fps seconds, with the input that arrived since the last tick."""
        raise NotImplementedError

    def action(self, action: Sequence[Any]) -> None:
        """Take a `v0.agent.action`: input that is neither keyboard nor pointer."""

    def close(self) -> None:
        """Give back what `open` and `reset` took."""
