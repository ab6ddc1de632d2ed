"""The options of an environment, checked when they are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from rewarder.client import RewarderTimeouts
from rewarder.protocol.features import ENV_OBSERVATION, LOCKSTEP
from universe_client.errors import ConfigError
from universe_client.renamed import refuse_old_names
from vnc.drivers import Driver, choose
from vnc.encodings import Encoding, preference
from vnc.session import Limits, Timeouts

_USUAL_FPS = 60
"""Frames per second of a remote that is not asked for another number."""


@refuse_old_names
@dataclass(frozen=True, slots=True)
class Config:
    """How an environment treats its remotes.

    A frozen dataclass: share it between environments, and change a copy with `dataclasses.replace`. Every environment
    of this package also accepts single fields as keyword arguments.

    Attributes:
        driver: the VNC client: "native" (Rust), "portable" (the Python package asyncvnc), or "auto", the first of the
            two that is installed.
        encoding: the preferred RFB encoding, for the native driver: "raw", "hextile", "zrle", "tight" (RFC 6143
            section 7.7; Tight is in the community's RFB document), or "auto": raw from a server on this host, tight
            from any other. In lock-step "auto" also lets a remote on this host use shared memory instead of VNC.
        quality: JPEG quality from 0 to 9, which lets the server send lossy Tight rectangles; None keeps pixels exact.
        mode: "realtime": the remotes run whatever the agent does. "lockstep": each remote runs one tick (1 / fps
            seconds of its world) per step, and waits in between.
        env_observation: request the environment observation from each remote: what the remote's environment itself
            returns. An observation then has the key `"env_observation"` beside the pixels.
        allowed_calls: names that `call`, `get_attr` and `set_attr` may use in the remotes' environments. It applies to
            remotes that this environment starts; remotes at an address have their own list (`--allow-call`).
        fps: the number of frames (ticks) per second to request from each remote; None leaves it to the remote.
        time_scale: seconds of a remote's time per second, 0.1 to 10, in real time only. It asks for `fps * time_scale`
            ticks per second. A remote whose time does not pass in ticks, such as a desktop, ignores it: the info has
            the scale that each remote has reported (`env_status.time_scale`).
        updates: which frames the remotes send, in real time. "as_needed": if the environment has a `step_rate` (or a
            `Throttle` around it) of at most half the remotes' `fps`, a remote that draws all the time sends one frame
            for each step, shortly before it. "every": remotes send every frame.
        observer: only watch: another client controls the episodes, and the client sends no input to the remotes.
        on_error: "truncate": the failure of a remote ends its episode, and its info has the message. "raise": `step`
            and `recv` raise it.
        copy: whether the arrays of observations belong to the caller. False lends a view that the next step changes.
        start_timeout: seconds a provider may take to start one remote.
        reset_timeout: seconds from the request of a reset to the first frame; in lock-step also for one step; also for
            a call of the remote's environment.
        idle_warning: seconds without a step, while remotes run, after which one warning is logged.
        backoff: (first, longest) delay in seconds between attempts to reach a lost remote. The delay doubles with each
            attempt, and a random part is added.
        limits: bounds on what a VNC server may send.
        timeouts: bounds on how long a VNC server may take.
        rewarder_timeouts: bounds on how long a rewarder may take.

    Raises:
        ConfigError: a value is invalid, or two values exclude each other; the message names them.

    Example:
        config = Config(mode="lockstep", fps=30)
        env = universe_client.make("builtin.NeonDrive-v0", remotes=4, config=config)
    """

    driver: Driver = "auto"
    encoding: Encoding = "auto"
    quality: int | None = None
    mode: Literal["realtime", "lockstep"] = "realtime"
    env_observation: bool = False
    allowed_calls: Sequence[str] = ()
    fps: float | None = None
    time_scale: float | None = None
    updates: Literal["as_needed", "every"] = "as_needed"
    observer: bool = False
    on_error: Literal["truncate", "raise"] = "truncate"
    copy: bool = True
    start_timeout: float = 60.0
    reset_timeout: float = 120.0
    idle_warning: float = 60.0
    backoff: tuple[float, float] = (0.5, 30.0)
    limits: Limits = field(default_factory=Limits)
    timeouts: Timeouts = field(default_factory=Timeouts)
    rewarder_timeouts: RewarderTimeouts = field(default_factory=RewarderTimeouts)

    @property
    def wants(self) -> frozenset[str]:
        """The features beyond the v0 protocol that these options need from rewarders."""
        needed = {LOCKSTEP: self.mode == "lockstep", ENV_OBSERVATION: self.env_observation}
        return frozenset(feature for feature, is_needed in needed.items() if is_needed)

    @property
    def shares_memory(self) -> bool:
        """Whether pixels may come otherwise than over VNC: not if a driver or an encoding of VNC is chosen."""
        return self.driver != "portable" and self.encoding == "auto"

    def as_needed(self, step_rate: float | None) -> bool:
        """Whether an agent that takes this many steps per second needs only a part of the frames."""
        if self.updates == "every" or self.mode != "realtime" or step_rate is None:
            return False
        return 2 * step_rate <= (self.fps or _USUAL_FPS) * (self.time_scale or 1)

    def __post_init__(self) -> None:
        try:
            choose(self.driver)
            preference(self.encoding, self.quality, "localhost")
        except (ValueError, ImportError) as error:
            raise ConfigError(str(error)) from error
        if self.on_error not in ("truncate", "raise"):
            raise ConfigError(f"on_error={self.on_error!r} is neither 'truncate' nor 'raise'")
        if self.updates not in ("as_needed", "every"):
            raise ConfigError(f"updates={self.updates!r} is neither 'as_needed' nor 'every'")
        self._check_mode()
        for name in ("start_timeout", "reset_timeout", "idle_warning"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name}={getattr(self, name)!r} is not a positive number of seconds")
        if self.fps is not None and self.fps <= 0:
            raise ConfigError(f"fps={self.fps!r} is not a positive number of frames per second")
        if self.time_scale is not None and not 0.1 <= self.time_scale <= 10:
            raise ConfigError(f"time_scale={self.time_scale!r} is not between 0.1 and 10")
        if not 0 < self.backoff[0] <= self.backoff[1]:
            raise ConfigError(
                f"backoff={self.backoff!r} is not (first, longest) in seconds with 0 < first <= longest"
            )

    def _check_mode(self) -> None:
        if self.mode not in ("realtime", "lockstep"):
            raise ConfigError(f"mode={self.mode!r} is neither 'realtime' nor 'lockstep'")
        if self.mode == "lockstep" and self.observer:
            raise ConfigError("observer=True cannot step remotes: use mode='realtime'")
        if self.mode == "lockstep" and self.time_scale is not None:
            raise ConfigError(
                f"time_scale={self.time_scale!r}: in mode='lockstep' time passes only in steps, so leave it out"
            )
        if self.mode == "lockstep" and self.quality is not None:
            raise ConfigError(
                f"quality={self.quality!r}: mode='lockstep' needs exact pixels, so leave quality out"
            )
