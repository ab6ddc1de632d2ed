"""The operating system refuses descriptors, processes or routes (F38)."""

from __future__ import annotations

import asyncio
import errno
import operator
import os
import time
from contextlib import nullcontext, suppress
from functools import partial

import pytest

from rewarder.client import RewarderAddress
from tests.support.remotes.agent import failed, until, until_running, wait_until
from tests.support.system.scarcity import in_use, no_descriptors, no_processes
from tests.support.timing import Stopwatch
from universe_client import make
from universe_client.errors import ConnectError, ProviderError
from universe_client.providers.address import AddressProvider
from universe_client.providers.embedded import EmbeddedProvider
from universe_client.providers.provider import RemoteAddress
from vnc.session import VNCAddress

BACKOFF = 1.0
TWICE = 2 * BACKOFF * 1.5  # a backoff is longer by up to a half
ENV_ID = "builtin.NeonDrive-v0"
UNROUTED = RemoteAddress(
    VNCAddress("224.0.0.1", 1), RewarderAddress("224.0.0.1", 1)
)  # TCP has no route to a group


class Moved(AddressProvider):
    """Gives addresses without a route while `lost` is true."""

    lost = False

    async def acquire(self, index):
        return UNROUTED if self.lost else await super().acquire(index)


CAUSES = {"no route": errno.ENETUNREACH, "no descriptors": errno.EMFILE}


def refused(env, cause):
    """Wait for a failed attempt to connect; return why, in the system's words.

    An attempt that gets a descriptor after all, which something else has just closed, has no route.
    """
    with no_descriptors() if cause == "no descriptors" else nullcontext():
        until(env, failed)
        return str(env.remotes[0].error).rpartition(": ")[2]


@pytest.mark.fault("F38", "errno at connect or start")
@pytest.mark.parametrize("cause", CAUSES)
def test_f38_an_errno_at_connect_is_tried_again(scripted, open_env, measure, cause):
    provider = Moved([scripted().address])
    provider.lost = True
    env = open_env(provider, backoff=(BACKOFF, BACKOFF))
    env.reset()
    until(env, failed)
    errors, began = set(), time.monotonic()
    while time.monotonic() < began + 3:
        errors.add(refused(env, cause))
        error = env.remotes[0].error
        assert type(error) is ConnectError, error
        assert not error.permanent
    assert os.strerror(CAUSES[cause]) in errors
    provider.lost = False
    watch = Stopwatch()
    until_running(env)
    measure("back after the cause's end", watch.seconds, at_most=TWICE + 1, unit="s")


class Held(EmbeddedProvider):
    """Starts no remote before the gate is open."""

    def __post_init__(self):
        super().__post_init__()
        self.gate = asyncio.Event()
        self.attempts = 0

    async def acquire(self, index):
        await self.gate.wait()
        self.attempts += 1
        return await super().acquire(index)


@pytest.mark.fault("F38", "errno at connect or start")
@pytest.mark.parametrize(
    "cause",
    [no_descriptors, partial(no_processes, errno.EAGAIN), partial(no_processes, errno.ENOMEM)],
    ids=["no descriptors", "no processes", "no memory"],
)
def test_f38_an_errno_at_the_start_of_a_remote_is_tried_again(measure, cause):
    provider = Held(1, ENV_ID)
    with make(ENV_ID, remotes=provider, backoff=(BACKOFF, BACKOFF)) as env:
        with cause():
            env.reset()
            env.core._loop.call(provider.gate.set)
            for _ in range(2):
                until(env, failed)
                assert type(env.remotes[0].error) is ProviderError
        watch, failed_ones = Stopwatch(), provider.attempts
        wait_until(lambda: provider.attempts > failed_ones, 60, "another attempt")
        measure("tried again after the cause's end", watch.seconds, at_most=TWICE + 1, unit="s")
        wait_until(lambda: env.provider._children, 60, "the start of the remote")
        until_running(env)


@pytest.mark.fault("F38", "errno at connect or start")
@pytest.mark.parametrize("cause", CAUSES)
def test_f38_failed_attempts_to_connect_leave_nothing_behind(scripted, open_env, measure, cause):
    provider = Moved([scripted().address])
    provider.lost = True
    env = open_env(provider, backoff=(0.001, 0.001))
    env.reset()
    until(env, failed)
    idle = in_use()
    provider.lost = False
    until_running(env)
    provider.lost = True
    env.core.lose(0, "the test wants it lost")
    until(env, failed)
    before = settled(idle)
    assert os.strerror(CAUSES[cause]) in {refused(env, cause) for _ in range(100)}
    until(env, failed)
    after = settled(before)
    measure("additional descriptors after 100 failures", after[0] - before[0], at_most=2)
    measure("additional threads after 100 failures", after[1] - before[1], at_most=0)


def settled(before: tuple[int, int]) -> tuple[int, int]:
    """Return the numbers of descriptors and threads once they are as `before`, or after 60 s."""
    now = in_use()

    def as_before() -> bool:
        nonlocal now
        now = in_use()
        return all(map(operator.le, now, before))

    with suppress(AssertionError):  # a connection that has just failed is still being closed
        wait_until(as_before, 60)
    return now


@pytest.mark.fault("F38", "errno at connect or start")
async def test_f38_failed_starts_leave_nothing_behind(measure):
    provider = EmbeddedProvider(1, ENV_ID)
    await provider.acquire(0)
    await provider.close()
    before = in_use()
    for cause in (no_descriptors, no_processes):
        for _ in range(100):
            with cause(), pytest.raises(OSError, match="Errno"):
                await provider.acquire(0)
    after = in_use()
    await provider.close()
    measure("additional descriptors after 200 failures", after[0] - before[0], at_most=0)
    measure("additional threads after 200 failures", after[1] - before[1], at_most=0)
