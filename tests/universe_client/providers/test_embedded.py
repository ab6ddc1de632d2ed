"""Embedded remotes: processes that play, and go when they should."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from tests.support.remotes.agent import until, until_running, wait_until
from tests.support.system.processes import Obituary, descendants
from universe_client import make
from universe_client.errors import ProviderError
from universe_client.providers import embedded, zygote
from universe_client.providers.embedded import EmbeddedProvider

ENV_ID = "builtin.NeonDrive-v0"


@pytest.fixture(params=["forked", "started"])
def way(request, monkeypatch):
    """How remotes come to be: forks of a zygote or, where there is none, processes with an interpreter each."""
    if request.param == "started":
        monkeypatch.setattr(embedded, "can_fork", lambda: False)
    return request.param


@pytest.mark.usefixtures("way")
async def test_hands_out_the_same_remote_while_it_lives_and_another_after():
    provider = EmbeddedProvider(2, ENV_ID)
    try:
        one, other = await asyncio.gather(provider.acquire(0), provider.acquire(1))
        assert one != other
        assert await provider.acquire(0) == one
        provider._children[0].process.kill()
        await provider._children[0].process.wait()
        assert await provider.acquire(0) != one
        pid = provider._children[0].process.pid
        await provider.discard(0)
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
        await provider.discard(0)
    finally:
        await provider.close()
        await provider.close()


@pytest.mark.usefixtures("way")
async def test_the_password_is_in_no_argument_and_no_environment():
    provider = EmbeddedProvider(1, ENV_ID)
    try:
        address = await provider.acquire(0)
        assert address.rewarder and address.rewarder.password
        assert len(address.rewarder.password) >= 20
        assert address.vnc.password == address.rewarder.password[:8]
        pid = provider._children[0].process.pid
        shown = await asyncio.to_thread(lambda: b"".join(read(pid, name) for name in ("cmdline", "environ")))
        assert address.vnc.password.encode() not in shown
        assert address.rewarder.password not in repr(provider)
    finally:
        await provider.close()


def read(pid: int, name: str) -> bytes:
    return Path(f"/proc/{pid}/{name}").read_bytes()


async def test_two_remotes_have_two_passwords():
    provider = EmbeddedProvider(2, ENV_ID)
    try:
        addresses = await asyncio.gather(provider.acquire(0), provider.acquire(1))
        assert len({address.rewarder.password for address in addresses}) == 2
    finally:
        await provider.close()


@pytest.mark.usefixtures("way")
async def test_a_remote_that_cannot_start_is_named_with_its_last_words():
    provider = EmbeddedProvider(1, "no.SuchEnv-v0")
    with pytest.raises(ProviderError, match=r"remote 0 \(embedded\), start: ended with status \d+") as caught:
        await provider.acquire(0)
    assert "no.SuchEnv-v0" in str(caught.value)
    await provider.close()


async def test_a_remote_that_is_not_ready_in_time_is_ended():
    provider = EmbeddedProvider(1, ENV_ID, start_timeout=0.01)
    with pytest.raises(ProviderError, match=r"not reachable within 0\.01 s"):
        await provider.acquire(0)
    assert not provider._children
    await provider.close()


def test_an_unknown_env_is_told_in_its_slot_and_not_tried_for_ever():
    with make("no.SuchEnv-v0", remotes=1, backoff=(0.01, 0.02)) as env:
        env.reset()
        info = until(env, lambda step: step.info["error"] is not None)[-1].info
        assert "no.SuchEnv-v0" in info["error"]
        until(env, lambda step: step.info["env_status.reason"] == "closed")


async def test_remotes_are_forks_of_one_process_which_ends_with_the_provider():
    provider = EmbeddedProvider(2, ENV_ID)
    try:
        await asyncio.gather(provider.acquire(0), provider.acquire(1))
        pids = {child.process.pid for child in provider._children.values()}
        parent = provider._zygote._process.pid
        assert descendants(parent) == pids
        await provider.discard(0)
        await provider.discard(1)
        assert await provider.acquire(0)
        assert provider._zygote._process.pid == parent
        obituary = Obituary([parent, provider._children[0].process.pid])
    finally:
        await provider.close()
    assert not obituary.alive()
    obituary.close()


async def test_a_killed_zygote_ends_its_remotes_and_the_next_one_replaces_them():
    provider = EmbeddedProvider(2, ENV_ID)
    try:
        before = await asyncio.gather(provider.acquire(0), provider.acquire(1))
        obituary = Obituary([child.process.pid for child in provider._children.values()])
        provider._zygote._process.kill()
        for child in provider._children.values():
            assert await child.process.wait() == -signal.SIGTERM
        after = await asyncio.gather(provider.acquire(0), provider.acquire(1))
        assert not set(before) & set(after)
        obituary.wait(60)
        obituary.close()
    finally:
        await provider.close()


async def test_a_zygote_that_does_not_start_is_told_with_its_last_words():
    provider = EmbeddedProvider(1, ENV_ID)
    provider._zygote = zygote.Zygote("", os.environ)
    hangs_up_and_speaks = "import os, sys, time; os.close(0); time.sleep(0.5); sys.exit('no modules here')"
    provider._zygote._command = (sys.executable, "-c", hangs_up_and_speaks)
    for _ in range(2):
        with pytest.raises(ConnectionError, match=r"not fork it; its last words:\n    no modules here"):
            await provider.acquire(0)
    assert not provider._children
    await provider.close()


@pytest.mark.usefixtures("way")
async def test_a_stopped_remote_is_killed():
    provider = EmbeddedProvider(1, ENV_ID)
    await provider.acquire(0)
    process = provider._children[0].process
    os.kill(process.pid, signal.SIGSTOP)
    await provider.discard(0)
    assert process.returncode == -signal.SIGKILL
    await provider.close()


async def test_a_stopped_zygote_keeps_no_remote_from_being_ended(monkeypatch):
    monkeypatch.setattr(zygote, "_KILL_TIMEOUT", 0.1)
    provider = EmbeddedProvider(1, ENV_ID)
    await provider.acquire(0)
    provider._zygote._process.send_signal(signal.SIGSTOP)
    obituary = Obituary([provider._children[0].process.pid])
    await provider.close()
    obituary.wait(60)
    obituary.close()


async def test_an_acquire_that_is_cancelled_leaves_no_process():
    provider = EmbeddedProvider(1, ENV_ID)
    await provider.acquire(0)
    await provider.discard(0)
    parent = provider._zygote._process.pid
    for turns in range(1, 12):
        task = asyncio.create_task(provider.acquire(0))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await provider.discard(0)
    await asyncio.to_thread(wait_until, lambda: not descendants(parent), 60)
    assert await provider.acquire(0)
    await provider.close()


def test_a_killed_process_is_replaced_and_the_other_does_not_notice():
    with make(ENV_ID, remotes=2, backoff=(0.05, 0.1)) as env:
        env.reset()
        until_running(env, 60)
        os.kill(env.provider._children[0].process.pid, 9)
        seen = until(env, lambda step: step.done_n[0] and step.info_n[0]["end_reason"] == "lost")
        assert seen[-1].info["error"] is not None
        after = until(env, lambda step: step.observation_n[0] is not None, 60)
        assert not any(step.info_n[1]["error"] for step in seen + after)
        pids = [child.process.pid for child in env.provider._children.values()]
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))
