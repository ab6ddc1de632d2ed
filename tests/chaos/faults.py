"""The faults: each second one starts on a random remote, and ends after a while."""

from __future__ import annotations

import os
import random
import signal
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress

from tests.chaos.fleet import Fleet, Member
from tests.support.network.proxy import Proxy
from tests.support.system.processes import command_line, descendants

_RECOVERY = 10.0
"""How long a remote may be away after the end of its fault, in seconds."""

Undo = Callable[[], object]


class Injector:
    """Starts and ends faults, and records which remote has which fault until when.

    Attributes:
        done: how often each fault was started.
    """

    def __init__(self, fleet: Fleet, seed: int) -> None:
        self.done: Counter[str] = Counter()
        self._fleet, self._random = fleet, random.Random(seed)
        self._running: dict[
            int, tuple[float, str, Undo]
        ] = {}  # by slot: the time of its end, its name, and the function that ends it
        self._excused: dict[int, float] = {}

    def excused(self, slot: int, now: float) -> bool:
        """Return whether a fault is a valid reason for this remote to be away now."""
        return slot in self._running or now < self._excused.get(slot, 0.0)

    def strike(self, now: float) -> str | None:
        """Start a fault on a remote that has none; return its name."""
        well = [slot for slot in range(self._fleet.n) if slot not in self._running]
        if not well:
            return None
        slot = self._random.choice(well)
        member = self._fleet.members[slot]
        name, begin = self._random.choice(self._choices(member))
        seconds = self._random.uniform(0.3, 5.0)
        self._running[slot] = (now + seconds, name, begin())
        self.done[name] += 1
        return f"{name} of remote {slot}"

    def relent(self, now: float) -> None:
        """End the faults whose time is over."""
        for slot, (end, _name, undo) in list(self._running.items()):
            if end <= now:
                undo()
                del self._running[slot]
                self._excused[slot] = now + _RECOVERY

    def _choices(self, member: Member) -> Sequence[tuple[str, Callable[[], Undo]]]:
        both, vnc, rewarder = member.proxies, (member.vnc,), (member.rewarder,)
        choices: list[tuple[str, Callable[[], Undo]]] = [
            (f"{name}{of}", lambda fault=fault, channels=channels: fault(channels))  # type: ignore[misc]
            for name, fault in (("cut", self._cut), ("delay", self._delay), ("blackhole", self._blackhole))
            for of, channels in (("", both), (" of VNC", vnc), (" of the rewarder", rewarder))
        ]
        choices += [
            ("small pieces", lambda: self._split(both)),
            ("STOP", lambda: _stopped(_process(member))),
            ("KILL", lambda: _killed(_process(member))),
        ]
        if member.on_display:
            choices += [
                ("STOP of Xvnc", lambda: _stopped(_xvnc(member))),
                ("KILL of Xvnc", lambda: _killed(_xvnc(member))),
            ]
        return choices

    def _cut(self, channels: Sequence[Proxy]) -> Undo:
        for proxy in channels:
            self._random.choice((proxy.cut, proxy.reset, proxy.half_close))()
        return _nothing

    def _delay(self, channels: Sequence[Proxy]) -> Undo:
        usual = [proxy.latency for proxy in channels]
        _set_latencies(channels, [self._random.uniform(0.05, 0.8) for _ in channels])
        return lambda: _set_latencies(channels, usual)

    def _blackhole(self, channels: Sequence[Proxy]) -> Undo:
        for proxy in channels:
            proxy.stall()
            proxy.stop_reading()
        return lambda: _open_up(channels)

    def _split(self, channels: Sequence[Proxy]) -> Undo:
        _set_split(channels, 50)
        return lambda: _set_split(channels, 0)


def _set_latencies(channels: Sequence[Proxy], latencies: Sequence[float]) -> None:
    for proxy, latency in zip(channels, latencies, strict=True):
        proxy.latency = latency


def _open_up(channels: Sequence[Proxy]) -> None:
    for proxy in channels:
        proxy.flow()


def _set_split(channels: Sequence[Proxy], pieces: int) -> None:
    for proxy in channels:
        proxy.split = pieces


def _nothing() -> None:
    """Do nothing: ends a fault that has no duration."""


def _process(member: Member) -> Sequence[int]:
    child = member.provider._children.get(0)
    return [] if child is None else [child.process.pid]


def _xvnc(member: Member) -> Sequence[int]:
    return [
        pid for parent in _process(member) for pid in descendants(parent) if "Xvnc" in command_line(pid)[:1]
    ]


def _stopped(processes: Sequence[int]) -> Undo:
    _signal(processes, signal.SIGSTOP)
    return lambda: _signal(processes, signal.SIGCONT)


def _killed(processes: Sequence[int]) -> Undo:
    _signal(processes, signal.SIGKILL)
    return _nothing


def _signal(processes: Sequence[int], number: signal.Signals) -> None:
    for pid in processes:
        with suppress(ProcessLookupError):
            os.kill(pid, number)
