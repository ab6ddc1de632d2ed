"""The states of a link; tests/integration tests what the agent sees of them."""

from __future__ import annotations

import asyncio
import threading
import time

from tests.support.remotes.agent import until, until_running, wait_until
from tests.support.remotes.remote import by_hand
from universe_client.core.link import State
from universe_client.errors import PeerLost, ProviderError, RemoteError, ResetRejected
from universe_client.providers.address import AddressProvider


def test_states_of_a_life(scripted, open_env):
    remote = scripted(on_reset=by_hand)
    env = open_env(remote)
    link = env.remotes[0].link
    env.reset()
    request = remote.next_reset()
    wait_until(lambda: link.state is State.RESETTING)
    remote.answer(request)
    wait_until(lambda: link.state is State.RUNNING)
    assert str(link.playing) == "1"
    remote.finish()
    wait_until(lambda: link.state is State.RESETTING)
    assert link.playing is None
    remote.stop()
    wait_until(lambda: link.state in (State.LOST, State.CONNECTING))
    assert link.session is None
    remote.start()
    remote.answer(remote.next_reset())
    wait_until(lambda: link.state is State.RUNNING)
    env.close()
    assert link.state is State.CLOSED
    assert link.rewarder is None


def test_the_label_names_slot_and_address(scripted, playing):
    remote = scripted()
    env = playing(remote)
    assert env.remotes[0].link.label == f"0 ({remote.address})"


def test_a_rejected_reset_closes_the_slot(scripted, open_env):
    remote = scripted(on_reset=lambda remote, request: remote.refuse(request, "unknown env_id 'x'"))
    env = open_env(remote, env_id="x")
    env.reset()
    step = until(env, lambda step: step.info["error"] is not None)[-1]
    assert "unknown env_id 'x'" in step.info["error"]
    assert isinstance(env.remotes[0].error, ResetRejected)
    until(env, lambda step: step.info["env_status.reason"] == "closed")
    assert remote.resets.qsize() == 1


class Stubborn(AddressProvider):
    """Starts the remote at the third attempt."""

    attempts = 0

    async def acquire(self, index):
        self.attempts += 1
        if self.attempts < 3:
            raise ProviderError("no room", remote=f"{index} (stubborn)", stage="start")
        return await super().acquire(index)


def test_a_provider_that_fails_is_asked_again(scripted, open_env):
    provider = Stubborn([scripted().address])
    env = open_env(provider)
    env.reset()
    seen = until(env, lambda step: step.observation is not None)
    assert [step.info["error"] for step in seen if step.info["error"]] == [
        "remote 0 (stubborn), start: no room"
    ] * 2
    assert provider.attempts == 3


class Endless(AddressProvider):
    """Never starts the remote."""

    discarded = 0

    async def acquire(self, index):
        await asyncio.Event().wait()

    async def discard(self, index):
        self.discarded += 1


def test_a_start_that_does_not_end_has_a_deadline(scripted, open_env):
    provider = Endless([scripted().address])
    env = open_env(provider, start_timeout=0.2)
    env.reset()
    step = until(env, lambda step: step.info["error"] is not None)[-1]
    assert "not started within 0.2 s" in step.info["error"]
    assert provider.discarded >= 1


class Scarce(AddressProvider):
    """Starts the remote when the system has refused it threads, memory and time."""

    def __init__(self, addresses):
        super().__init__(addresses)
        self.refusals = [RuntimeError("can't start new thread"), MemoryError(), TimeoutError("too slow")]

    async def acquire(self, index):
        if self.refusals:
            raise self.refusals.pop(0)
        return await super().acquire(index)


def test_f38_what_the_system_refuses_a_provider_is_tried_again(scripted, open_env):
    env = open_env(Scarce([scripted().address]))
    env.reset()
    seen = until(env, lambda step: step.observation is not None)
    assert [step.info["error"].partition(", start: ")[2] for step in seen if step.info["error"]] == [
        "can't start new thread",
        "out of memory",
        "too slow",
    ]


class Broken(AddressProvider):
    """Has a defect."""

    async def acquire(self, index):
        raise KeyError("a defect")


def test_a_defect_ends_the_slot_aloud(scripted, open_env, caplog):
    env = open_env(Broken([scripted().address]))
    env.reset()
    step = until(env, lambda step: step.info["error"] is not None)[-1]
    assert "internal error: KeyError('a defect')" in step.info["error"]
    until(env, lambda step: step.info["env_status.reason"] == "closed")
    assert type(env.remotes[0].error) is RemoteError


def test_attempts_are_spaced_by_a_growing_pause(scripted, open_env):
    remote = scripted()
    env = open_env(remote, backoff=(0.05, 0.2))
    remote.stop()
    env.reset()
    times: list[float] = []
    while len(times) < 12:
        until(env, lambda step: step.info["error"] is not None)
        times.append(time.monotonic())
    assert times[-1] - times[0] > 1.5, (
        "the least sum is 0.05 + 0.1 + 9 * 0.2; without growth the most is 11 * 0.075"
    )


def test_close_while_connecting_waiting_and_running(scripted, open_env):
    for prepare in (lambda env: None, lambda env: env.reset(), lambda env: (env.reset(), until_running(env))):
        env = open_env(scripted())
        prepare(env)
        closer = threading.Thread(target=env.close)
        closer.start()
        closer.join(60)
        assert not closer.is_alive()


def test_a_lost_link_says_what_it_lost(scripted, playing):
    remote = scripted()
    env = playing(remote)
    remote.stop_vnc()
    step = until(env, lambda step: step.info["error"] is not None)[-1]
    assert step.info["error"].startswith(f"remote 0 ({remote.address}), run: ")
    assert type(env.remotes[0].error) is PeerLost
