"""Claims of both kinds, over the stand-in of a cluster: granted, waited for, lost, refused, and given back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.remotes.agent import running, until, until_running, wait_until
from tests.universe_client.providers.kubernetes.conftest import PASSWORD, provider_for
from universe_client import ConfigError
from universe_client.errors import ProviderError
from universe_client.providers.kubernetes import AgonesProvider, SandboxProvider
from universe_client.providers.kubernetes.agones import GAME_SERVER
from universe_client.providers.kubernetes.sandbox import SANDBOX_CLAIM
from universe_client.providers.provider import Staged


@pytest.fixture(params=["sandbox", "agones"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(name="driver")
def one_driver() -> str:
    return "auto"


def test_remotes_of_a_cluster_play_and_are_given_back(kind: str, cluster: Any, open_env: Callable[..., Any]):
    served = cluster(kind)
    env = open_env(provider_for(kind, served, 2))
    env.reset()
    until(env, lambda step: all(observation is not None for observation in step.observation_n))
    assert len(served.held()) == 2
    labels = [pod.holder["metadata"]["labels"]["universe-client.session"] for pod in served.held()]
    assert labels == [env.provider.session] * 2
    assert PASSWORD[:8] not in repr(env.provider) + str(served.api.store._history)
    env.close()
    assert served.held() == []


def test_a_remote_whose_pod_ends_is_claimed_again(kind: str, cluster: Any, open_env: Callable[..., Any]):
    served = cluster(kind)
    env = open_env(provider_for(kind, served, 1))
    env.reset()
    until_running(env)
    (first,) = served.held()
    served.remote_of(first).stop()
    served.run(_controller(served, kind).end(first), 60)
    until(env, lambda step: not running(step))
    until_running(env)
    assert len(served.held()) == 1


def test_a_remote_that_does_not_answer_is_claimed_again(
    kind: str, cluster: Any, open_env: Callable[..., Any], caplog
):
    served = cluster(kind)
    env = open_env(provider_for(kind, served, 1))
    env.reset()
    until_running(env)
    (first,) = served.held()
    served.remote_of(first).stop()  # but the cluster takes the pod for healthy
    until(env, lambda step: not running(step))
    until_running(env)
    assert served.held() != [first]
    assert f"{first.host}:{first.vnc_port}+{first.rewarder_port} does not answer" in caplog.text


async def test_a_claim_waits_for_capacity_and_says_so(kind: str, cluster: Any):
    served = cluster(kind, count=1)
    provider = provider_for(kind, served, 2, start_timeout=3.0)
    try:
        await provider.acquire(0)
        assert isinstance(provider, Staged)
        assert (provider.phase(0), provider.phase(1)) == (None, "cluster")
        waiting = "capacity" if kind == "agones" else "pod"
        with pytest.raises(
            ProviderError, match=f"waited for the {waiting} for 2.7 s; the cluster says"
        ) as failure:
            await provider.acquire(1)
        assert not failure.value.permanent
        assert provider.phase(1) == waiting
        claim = provider._claims[1]
        await provider.discard(0)  # a pod becomes free
        await provider.acquire(1)
        assert provider._claims[1] is claim
        assert provider.phase(1) is None
    finally:
        await provider.close()
    assert served.held() == []


async def test_the_same_remote_is_handed_out_while_the_claim_has_it(kind: str, cluster: Any):
    served = cluster(kind)
    provider = provider_for(kind, served, 1)
    try:
        first = await provider.acquire(0)
        assert await provider.acquire(0) == first
        assert first.rewarder.password == PASSWORD[:8]
        await provider.discard(0)
        assert served.held() == []
        await provider.acquire(0)
    finally:
        await provider.close()
        await provider.close()
    with pytest.raises(ProviderError, match="closed"):
        await provider.acquire(0)


async def test_a_claim_that_is_granted_while_nobody_waits_any_more_is_given_back(kind: str, cluster: Any):
    served = cluster(kind)
    provider = provider_for(kind, served, 2)
    waiting = [asyncio.create_task(provider.acquire(index)) for index in range(2)]
    await asyncio.sleep(0)  # both have sent their requests
    assert all(claim.request is not None for claim in provider._claims.values())
    for task in waiting:
        task.cancel()
    await asyncio.wait(waiting)
    await provider.close()
    assert served.held() == []


@pytest.mark.parametrize(
    ("status", "text", "permanent"),
    [(500, "HTTP status 500: the stand-in fails as it was told to", False), (403, "HTTP status 403", True)],
)
async def test_an_api_that_fails_is_the_failure_of_one_remote(
    kind: str, cluster: Any, status: int, text: str, permanent: bool
):
    served = cluster(kind)
    provider = provider_for(kind, served, 1)
    served.api.failures.append(status)
    try:
        with pytest.raises(ProviderError, match=text) as failure:
            await provider.acquire(0)
        assert failure.value.permanent is permanent
        await provider.acquire(0)
    finally:
        await provider.close()
    assert served.held() == []


async def test_credentials_that_expired_are_loaded_again(kind: str, cluster: Any):
    served = cluster(kind)
    provider = provider_for(kind, served, 1)
    try:
        await provider.acquire(0)
        served.api.token = "the-next-token"
        served.api.write_kubeconfig(served.access.kubeconfig)
        await provider.acquire(0)
        served.api.token = "not in the file"
        with pytest.raises(ProviderError, match="HTTP status 401: Unauthorized"):
            await provider.acquire(0)
        served.api.token = "the-next-token"
    finally:
        await provider.close()


async def test_an_api_that_is_not_there_and_no_kubeconfig(kind: str, cluster: Any, tmp_path):
    served = cluster(kind)
    provider = provider_for(kind, served, 1)
    served.run(served.api.close(), 60)
    with pytest.raises(ProviderError, match="the API cannot be reached") as failure:
        await provider.acquire(0)
    assert not failure.value.permanent
    await provider.close()
    served.access.kubeconfig.write_text("{}")
    provider = provider_for(kind, served, 1)
    with pytest.raises(ProviderError, match="no access to a cluster") as failure:
        await provider.acquire(0)
    assert failure.value.permanent
    await provider.close()


def test_impossible_arguments_are_refused():
    with pytest.raises(ConfigError, match="sandbox:0 has no remotes"):
        SandboxProvider(0, warm_pool="pool")
    with pytest.raises(ConfigError, match="agones:0 has no remotes"):
        AgonesProvider(0, fleet="fleet")
    with pytest.raises(ConfigError, match=r"lease=1\.0 is less than 10 seconds"):
        SandboxProvider(1, warm_pool="pool", lease=1.0)


def test_nothing_is_claimed_by_an_environment_that_is_never_reset_for_long(
    kind: str, cluster: Any, open_env: Callable[..., Any]
):
    served = cluster(kind)
    env = open_env(provider_for(kind, served, 2))
    env.close()
    wait_until(lambda: served.held() == [], what="that nothing is held")
    assert len(served.api.store.all(SANDBOX_CLAIM)) == 0
    assert all(server["status"]["state"] == "Ready" for server in served.api.store.all(GAME_SERVER))


def _controller(served: Any, kind: str) -> Any:
    return served.api.sandboxes if kind == "sandbox" else served.api.game_servers
