"""The base class of remotes' environments, and what one tick of them returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from numpy.typing import NDArray

from vnc.events import Event
from vnc.session import Frame


class Box(Protocol):
    """A space of arrays with one shape and dtype between two bounds, such as `gymnasium.spaces.Box`."""

    @property
    def low(self) -> NDArray[Any]:
        """The lower bounds, an array of the space's shape and dtype."""
        ...

    @property
    def high(self) -> NDArray[Any]:
        """The upper bounds, an array of the space's shape and dtype."""
        ...


@dataclass(frozen=True, slots=True)
class Tick:
    """The result of one tick, or of a reset.

    Attributes:
        frame: the whole screen, uint8 of shape (height, width, 3), RGB; None leaves the screen as it is.
        reward: since the last tick.
        done: True if this tick ended the episode. The next one begins at once.
        truncated: with `done`, True if the episode was cut short, for example by a time limit, and False if it ended by
            its own rules.
        text: a message to the agent, any JSON value, or None.
        env_observation: the environment's own observation, an array or any JSON value, or None.
        info: JSON values. An agent finds each key as `remote.<key>` in the info of its step.
    """

    frame: Frame | None = None
    reward: float = 0.0
    done: bool = False
    truncated: bool = False
    text: object | None = None
    env_observation: object | None = None
    info: Mapping[str, object] = field(default_factory=dict)


class Runtime:
    """An environment that runs in real time. Subclass it, and implement `reset` and `tick`.

    All methods are called on one thread, one call at a time. It is not the event loop's thread, unless the environment
    is `quick`. An exception ends the remote; clients receive the name of its class.

    Attributes:
        env_ids: the environments that a client may ask for. The first one runs when no client asks for another.
        fps: ticks per second. When a client asks for another rate, it is set before `reset`, within 1 to 240.
        width: of the screen, in pixels.
        height: of the screen, in pixels.
        display: True if the screen is an X display with a VNC server of its own. `Tick.frame` is then ignored, and
            `tick` receives no events.
        lockstep: True if time advances only in `tick`, by 1 / fps seconds each. Clients may then step the environment.
        quick: True if all methods but `open` return within a few milliseconds, and none needs a thread without an event
            loop. They are then called on the event loop's thread, which saves two changes of threads per tick. While a
            call runs, the remote answers nobody.
        stepped: set by the SDK: True while a client steps the environment.
        frame_wanted: set by the SDK before each `tick`: False if nobody will see the frame of that tick, which may then
            be None, unless the tick ends the episode.
        env_observation_space: the space of `Tick.env_observation`, if clients may ask for it; set by the end of `open`.
        env_observation_wanted: set by the SDK: True while a client wants `Tick.env_observation`.
        inside: the object whose attributes clients may call, read and set, if `serve` lists them; set by the end of
            `open`.

    Example:
        class Black(Runtime):
            env_ids = ("example.Black-v0",)
            fps, width, height = 30, 64, 48

            def reset(self, env_id, seed):
                return Tick(frame=np.zeros((48, 64, 3), np.uint8))

            def tick(self, events):
                return Tick(reward=float(len(events)))
    """

    env_ids: Sequence[str] = ()
    fps: float = 60
    width: int = 0
    height: int = 0
    display: bool = False
    lockstep: bool = False
    quick: bool = False
    stepped: bool = False
    frame_wanted: bool = True
    env_observation_space: Box | None = None
    env_observation_wanted: bool = False
    inside: object | None = None

    def open(self) -> None:
        """Prepare, before the servers listen. This is the last moment to set `fps`, `width` and `height`."""

    def reset(self, env_id: str, seed: int | None) -> Tick | None:
        """Begin an episode, in which no key is down.

        Args:
            env_id: one of `env_ids`.
            seed: of this episode, 0 to 2**63 - 1. None: continue the random numbers of the last seed, as in Gymnasium.

        Returns:
            The first frame, and possibly a text or an environment observation. None only with `display`.
        """
        raise NotImplementedError

    def tick(self, events: Sequence[Event]) -> Tick:
        """Advance the episode by 1 / fps seconds.

        Args:
            events: the keyboard and pointer input since the last tick, in order.

        Returns:
            What has changed since the last tick.
        """
        raise NotImplementedError

    def action(self, action: Sequence[Any]) -> None:
        """Receive a `v0.agent.action`, input that is neither keyboard nor pointer, before the next `tick`.

        Args:
            action: one event, such as `["JoystickAxisXEvent", 0.5]`.
        """

    def close(self) -> None:
        """Release what `open` and `reset` acquired."""
