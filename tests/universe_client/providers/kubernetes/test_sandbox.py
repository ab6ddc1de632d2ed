"""Claims of sandboxes: their leases, their refusals, and watches that are cut off."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.support.remotes.agent import wait_until
from tests.universe_client.providers.kubernetes.conftest import provider_for
from universe_client.errors import ProviderError
from universe_client.providers.kubernetes.sandbox import SANDBOX_CLAIM

AGENT = """
import sys, time
from pathlib import Path
import universe_client
from universe_client.providers.kubernetes import Access, SandboxProvider

file, vnc_port, rewarder_port, password = sys.argv[1:]
provider = SandboxProvider(
    2, warm_pool="pool", access=Access("agents", Path(file)), password=password, lease=10,
    vnc_port=int(vnc_port), rewarder_port=int(rewarder_port),
)
env = universe_client.make(None, provider)
env.reset()
while any(observation is None for observation in env.step([[], []])[0]):
    env.wait(60, forget=True)
print("playing", flush=True)
time.sleep(600)
"""


def _claims(served: Any) -> list[dict[str, Any]]:
    return served.api.store.all(SANDBOX_CLAIM)


def test_the_claims_of_an_agent_that_was_killed_expire(cluster: Any):
    served = cluster("sandbox")
    ports = [str(port) for port in served.ports.values()]
    command = [sys.executable, "-c", AGENT, str(served.access.kubeconfig), *ports, "a-secret"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as agent:
        try:
            assert agent.stdout is not None
            assert agent.stdout.readline() == "playing\n"
            renewals = 2 * 4  # in more time than a lease has
            wait_until(lambda: served.api.requests["PATCH sandboxclaims"] >= renewals, what="renewals")
            assert len(served.held()) == 2
        finally:
            agent.kill()
    wait_until(lambda: served.held() == [], what="that the leases end")
    assert _claims(served) == []


async def test_a_claim_expires_unless_it_is_renewed(cluster: Any):
    served = cluster("sandbox")
    provider = provider_for("sandbox", served, 1, lease=3600)
    try:
        await provider.acquire(0)
        (claim,) = _claims(served)
        lifecycle = claim["spec"]["lifecycle"]
        left = datetime.fromisoformat(lifecycle["shutdownTime"]) - datetime.now(UTC)
        assert 3400 < left.total_seconds() <= 3600
        assert lifecycle["shutdownPolicy"] == "Delete"
        assert "process" in claim["metadata"]["annotations"]["universe-client.agent"]
    finally:
        await provider.close()


async def test_a_watch_whose_version_is_too_old_begins_again(cluster: Any):
    served = cluster("sandbox", count=1)
    provider = provider_for("sandbox", served, 2)
    try:
        await provider.acquire(0)
        waiting = asyncio.create_task(provider.acquire(1))
        await _requests(
            served, "GET sandboxclaims", 3
        )  # a look at each claim, and a watch of the one that waits
        await asyncio.to_thread(served.run, served.api.store.forget(), 60)
        await _requests(served, "GET sandboxclaims", 5)
        await provider.discard(0)
        await waiting
    finally:
        await provider.close()


async def _requests(served: Any, what: str, count: int) -> None:
    await asyncio.to_thread(wait_until, lambda: served.api.requests[what] >= count, 60, what)


async def test_a_claim_that_somebody_deletes_fails_and_the_next_one_is_another(cluster: Any):
    served = cluster("sandbox", count=1)
    provider = provider_for("sandbox", served, 2)
    try:
        await provider.acquire(0)
        waiting = asyncio.create_task(provider.acquire(1))
        await _requests(served, "GET sandboxclaims", 3)
        claim = next(each for each in _claims(served) if each["metadata"]["name"] == provider._claims[1].name)
        await asyncio.to_thread(served.run, served.api.store.remove(SANDBOX_CLAIM, claim), 60)
        with pytest.raises(ProviderError, match="somebody deleted it") as failure:
            await waiting
        assert not failure.value.permanent
        await provider.discard(0)
        await provider.acquire(1)
    finally:
        await provider.close()


async def test_a_pool_that_does_not_exist_is_a_permanent_failure(cluster: Any):
    served = cluster("sandbox")
    provider = provider_for("sandbox", served, 1)
    provider.warm_pool = "misspelt"
    with pytest.raises(ProviderError, match="it was refused; the cluster says: WarmPoolNotFound") as failure:
        await provider.acquire(0)
    assert failure.value.permanent
    await provider.close()
    assert _claims(served) == []


async def test_the_remote_of_a_claim_may_move(cluster: Any):
    served = cluster("sandbox")
    provider = provider_for("sandbox", served, 1)
    try:
        first = await provider.acquire(0)
        (claim,) = _claims(served)
        other = next(pod for pod in served.pods if pod.holder is None)
        claim["status"]["sandbox"]["podIPs"] = [other.host]
        second = await provider.acquire(0)
        assert (first.vnc.host, second.vnc.host) == (served.pods[0].host, other.host)
        assert len(_claims(served)) == 1
    finally:
        await provider.close()


async def test_an_answer_that_is_no_claim_fails_the_remote(cluster: Any):
    served = cluster("sandbox")
    provider = provider_for("sandbox", served, 1)
    try:
        await provider.acquire(0)
        (claim,) = _claims(served)
        claim["status"] = {"conditions": "none"}
        with pytest.raises(ProviderError, match="the API sent an unexpected object"):
            await provider.acquire(0)
    finally:
        await provider.close()
