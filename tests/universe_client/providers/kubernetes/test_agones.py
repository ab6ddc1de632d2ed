"""Allocations of game servers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.universe_client.providers.kubernetes.conftest import provider_for
from universe_client.errors import ProviderError
from universe_client.providers.kubernetes.agones import GAME_SERVER
from universe_client.providers.kubernetes.fake.objects import SHAPES, Refusal, checked


async def test_game_servers_carry_whose_they_are_and_are_deleted_at_the_end(cluster: Any):
    served = cluster("agones")
    provider = provider_for("agones", served, 2)
    names = [server["metadata"]["name"] for server in served.api.store.all(GAME_SERVER)]
    try:
        await provider.acquire(0)
        await provider.acquire(1)
        taken = [pod.holder["metadata"] for pod in served.held()]
        assert [each["labels"]["universe-client.session"] for each in taken] == [provider.session] * 2
        assert all("process" in each["annotations"]["universe-client.agent"] for each in taken)
    finally:
        await provider.close()
    assert served.api.requests["DELETE gameservers"] == 1
    left = [server["metadata"]["name"] for server in served.api.store.all(GAME_SERVER)]
    assert len(left) == 3
    assert left[0] == names[2]


async def test_a_fleet_whose_ports_have_other_names_is_a_permanent_failure(cluster: Any):
    served = cluster("agones", count=1)
    (server,) = served.api.store.all(GAME_SERVER)
    server["status"]["ports"][0]["name"] = "default"
    provider = provider_for("agones", served, 1)
    with pytest.raises(
        ProviderError, match=r"\['default', 'rewarder'\]: name them 'vnc' and 'rewarder'"
    ) as failure:
        await provider.acquire(0)
    assert failure.value.permanent
    await provider.close()
    assert served.held() == []


@pytest.mark.parametrize(
    "spec",
    [
        {"selectors": [{"matchLabels": {"a": "b"}}], "scheduling": "Everywhere"},
        {"selectors": [{"matchLabels": {}}], "metadata": {"labels": {"a": "not a label"}}},
        {"selectors": [{"labels": {}}]},
    ],
)
def test_the_stand_in_refuses_what_the_api_refuses(spec: dict[str, Any]):
    body = {"apiVersion": "allocation.agones.dev/v1", "kind": "GameServerAllocation", "spec": spec}
    with pytest.raises(Refusal) as refusal:
        checked(body, SHAPES["gameserverallocations"])
    assert refusal.value.code == 422
