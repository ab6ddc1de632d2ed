"""One run: an agent plays while a fault starts each second, and all results are counted."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from rewarder.client import RewarderTimeouts
from tests.chaos.books import Account, Books
from tests.chaos.faults import Injector
from tests.chaos.fleet import Fleet
from tests.chaos.gauges import Gauges
from universe_client.config import Config
from universe_client.core.link import State
from universe_client.pacer import Pacer
from universe_client.vector_env import VectorEnv
from vnc.drivers import Driver
from vnc.session import Timeouts

CONFIG = Config(
    backoff=(0.1, 2.0),
    reset_timeout=30.0,
    timeouts=Timeouts(
        connect=5.0, handshake=8.0, update=8.0, probe_interval=0.5, probe_deadline=3.0, close=2.0
    ),
    rewarder_timeouts=RewarderTimeouts(open=5.0, ping_interval=0.5, ping_timeout=3.0, close=1.0),
)
_RATE = 30.0  # steps per second
_START = 120.0
_CALM = 60.0
_WARM = 0.2
"""The fraction of a run after which memory is first read; caches and pools are full by then."""
_PRESS = [("KeyEvent", "a", True), ("KeyEvent", "a", False)]


@dataclass
class Outcome:
    """The results of a run. `before` is read when all remotes run, `after` at the end."""

    books: Books = field(default_factory=Books)
    faults: dict[str, int] = field(default_factory=dict)
    steps: array[float] = field(default_factory=lambda: array("d"))
    up: float = 0.0
    down: float = 0.0
    memory: list[int] = field(default_factory=list)
    before: Gauges = field(default_factory=Gauges.read)
    after: Gauges = field(default_factory=Gauges.read)
    stuck: list[str] = field(default_factory=list)

    @property
    def uptime(self) -> float:
        """The fraction of the time without a fault in which remotes were running or resetting."""
        return self.up / max(self.up + self.down, 1e-9)


class Run:
    """Plays the remotes of `fleet` for some seconds."""

    def __init__(self, fleet: Fleet, env: VectorEnv, seed: int) -> None:
        self.outcome = Outcome()
        self.injector = Injector(fleet, seed)
        self._fleet, self._env, self._pacer = fleet, env, Pacer(_RATE)
        self._accounts = [Account(slot, self.outcome.books) for slot in range(fleet.n)]
        self._last: float | None = None  # the time of the last step under faults

    def play(self, seconds: float, progress: Callable[[float, str], object]) -> Outcome:
        """Play with a fault each second; then wait until all remotes run again.

        Raises:
            TimeoutError: not all remotes ran at the start.
        """
        self._until_all_run(_START)
        if self.outcome.stuck:
            raise TimeoutError(f"not running after {_START:g} s: {', '.join(self.outcome.stuck)}")
        self.outcome.before = Gauges.read()
        began = self._last = time.monotonic()
        strikes = 0
        while (now := time.monotonic()) < began + seconds:
            self.injector.relent(now)
            if now - began >= strikes:
                strikes += 1
                struck = self.injector.strike(now) or "every remote has a fault"
                progress(now - began, struck)
                if now - began >= _WARM * seconds:
                    self.outcome.memory.append(Gauges.read().memory)
            self._step()
        self._last = None
        self.injector.relent(float("inf"))
        self._until_all_run(_CALM)
        self.outcome.after = self._settled()
        self.outcome.faults = dict(self.injector.done)
        return self.outcome

    def _step(self) -> None:
        self._pacer.wait()
        began = time.monotonic()
        observation_n, reward_n, done_n, info = self._env.step([_PRESS] * self._env.n)
        now = time.monotonic()
        self.outcome.steps.append(now - began)
        for slot, account in enumerate(self._accounts):
            life = self._fleet.members[slot].life
            account.add(life, observation_n[slot], reward_n[slot] or 0.0, bool(done_n[slot]), info["n"][slot])
        self._clock(now)

    def _clock(self, now: float) -> None:
        """Add the time since the last step for the remotes without a fault."""
        if self._last is None:
            return
        passed, self._last = now - self._last, now
        for slot, remote in enumerate(self._env.remotes):
            if self.injector.excused(slot, now):
                continue
            if remote.link.state in (State.RUNNING, State.RESETTING):
                self.outcome.up += passed
            else:
                self.outcome.down += passed

    def _until_all_run(self, timeout: float) -> None:
        """Step until every remote runs; return the names of those that do not."""
        deadline = time.monotonic() + timeout
        while waiting := [remote for remote in self._env.remotes if remote.link.state is not State.RUNNING]:
            self._step()
            if time.monotonic() > deadline:
                self.outcome.stuck = [f"{remote.link.label} is {remote.link.state}" for remote in waiting]
                return

    def _settled(self) -> Gauges:
        """Read the gauges when the last connections are closed, at the latest after a bound."""
        deadline = time.monotonic() + _CALM / 2
        while True:
            gauges = Gauges.read()
            before = self.outcome.before
            settled = gauges.descriptors <= before.descriptors and gauges.threads <= before.threads
            if settled or time.monotonic() > deadline:
                return gauges
            self._step()


def chaos(
    seconds: float,
    seed: int,
    ledger: Path,
    *,
    embedded: int = 16,
    displays: int = 2,
    driver: Driver = "auto",
    progress: Callable[[float, str], object] = lambda seconds, what: None,
) -> Outcome:
    """Run the test; `ledger` is an empty directory."""
    fleet = Fleet(embedded, displays, ledger, seed)
    try:
        with VectorEnv(None, fleet, config=replace(CONFIG, driver=driver)) as env:
            env.reset()
            return Run(fleet, env, seed).play(seconds, progress)
    finally:
        fleet.stop()
