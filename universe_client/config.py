"""The options of an environment, checked once, where they are given."""

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


@refuse_old_names
@dataclass(frozen=True, slots=True)
class Config:
    """How an environment treats its remotes.

    Attributes:
        driver: which VNC driver decodes the pixels: "native" (Rust), "portable" (asyncvnc), or "auto", the first of
            the two that is installed.
        encoding: how pixels travel, for the native driver: "auto", "raw", "hextile", "zrle" or "tight". "auto" asks a
            server on this host for raw pixels, any other for tight ones.
        quality: of JPEG, 0 to 9, where the server may use it; None, the default, keeps pixels exact.
        mode: "realtime", or "lockstep": the remotes freeze between steps, and live for exactly one tick in each.
        env_observation: request the environment observation from each remote; an observation then has the key
            `"env_observation"` beside the pixels.
        allowed_calls: what the remotes that are started for this environment let it call, read and set inside.
        fps: the rate asked of each remote in its reset; None leaves it to the remote.
        observer: watch only: another client controls the episodes, nothing we send reaches the remote.
        on_error: "truncate" reports a remote's failure in its slot and goes on; "raise" raises it from `step`.
        copy: hand out frames that are the caller's to keep; False lends a view valid until the next step.
        start_timeout: seconds a provider may take to start one remote.
        reset_timeout: seconds one reset may take, from its request to the first frame; in lock-step also one step.
        idle_warning: seconds without a step, while remotes run, after which one warning is logged.
        backoff: seconds before the first and between later attempts to reach a lost remote (jitter is added).
        limits, timeouts: bounds on what a VNC server may send and how long it may take.
        rewarder_timeouts: how long a rewarder may take.
    """

    driver: Driver = "auto"
    encoding: Encoding = "auto"
    quality: int | None = None
    mode: Literal["realtime", "lockstep"] = "realtime"
    env_observation: bool = False
    allowed_calls: Sequence[str] = ()
    fps: float | None = None
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
        """What rewarders are asked for beyond v0."""
        asked = {LOCKSTEP: self.mode == "lockstep", ENV_OBSERVATION: self.env_observation}
        return frozenset(word for word, wanted in asked.items() if wanted)

    def __post_init__(self) -> None:
        try:
            choose(self.driver)
            preference(self.encoding, self.quality, "localhost")
        except (ValueError, ImportError) as error:
            raise ConfigError(str(error)) from error
        if self.on_error not in ("truncate", "raise"):
            raise ConfigError(f"on_error={self.on_error!r} is neither 'truncate' nor 'raise'")
        self._check_mode()
        for name in ("start_timeout", "reset_timeout", "idle_warning"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name}={getattr(self, name)!r} is not a positive number of seconds")
        if self.fps is not None and self.fps <= 0:
            raise ConfigError(f"fps={self.fps!r} is not a positive rate")
        if not 0 < self.backoff[0] <= self.backoff[1]:
            raise ConfigError(f"backoff={self.backoff!r} is not (first, longest) in seconds")

    def _check_mode(self) -> None:
        if self.mode not in ("realtime", "lockstep"):
            raise ConfigError(f"mode={self.mode!r} is neither 'realtime' nor 'lockstep'")
        if self.mode == "lockstep" and self.observer:
            raise ConfigError("observer=True cannot step remotes in mode='lockstep'")
        if self.mode == "lockstep" and self.quality is not None:
            raise ConfigError(f"quality={self.quality!r}: mode='lockstep' needs exact pixels")
