"""`ray:N`: remotes on the nodes of a cluster, played from one of them."""

from __future__ import annotations

import os
import signal

import pytest

from tests.support.remotes.agent import failed, one_step, running, until, until_running, wait_until
from tests.support.remotes.cluster import processes
from universe_client import ConfigError, VectorEnv
from universe_client.providers import RayProvider, Resources, provider
from universe_client.providers.ray import system
from universe_client.providers.ray.provider import Phase

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(600)]  # the warnings are Ray's
GAME = "builtin.NeonDrive-v0"
LONG = 240.0
ON_THE_HEAD = Resources(0, 0, {"head": 1})


def described(env):
    """Return the description of each actor."""
    return [system.get(handle.describe.remote(), LONG) for _, handle in system.named(prefix(env))]


def prefix(env):
    return f"universe-client-{env.provider.session}-"


def addresses(env):
    return [remote.link.address for remote in env.remotes]


def test_remotes_of_other_nodes_are_spread_and_played_over_tls(nodes):
    with VectorEnv(GAME, "ray:8", start_timeout=LONG) as env:
        env.reset()
        step = until_running(env, LONG)
        assert [info["stats.vnc.pixels_by"] for info in step.info_n] == ["vnc"] * 8
        actors = described(env)
        assert {actor.node for actor in actors} <= {node.node_id for node in nodes.living}
        assert len({actor.node for actor in actors}) == 2, "two actors of four remotes, spread"
        assert sorted(index for actor in actors for index in actor.plan.indexes) == list(range(8))
        for address in addresses(env):
            assert address.vnc.tls.fingerprint and address.rewarder.tls.fingerprint
            assert len(address.rewarder.password) >= 16
        assert len({address.vnc.tls.fingerprint for address in addresses(env)}) == 2
        assert [env.provider.phase(index) for index in range(8)] == [None] * 8
        own = prefix(env)
    wait_until(lambda: not list(system.named(own)), 60, "the end of the actors")


def test_remotes_on_the_agents_node_share_their_pixels(nodes):
    remotes = RayProvider(2, GAME, LONG, resources=ON_THE_HEAD, remotes_per_actor=1)
    with VectorEnv(GAME, remotes, start_timeout=LONG) as env:
        env.reset()
        until(env, lambda step: [info["stats.vnc.pixels_by"] for info in step.info_n] == ["shared"] * 2, LONG)
        assert all(address.vnc.tls is None and address.vnc.host == "127.0.0.1" for address in addresses(env))


def test_programs_on_a_display_run_on_other_nodes(nodes):
    with VectorEnv("process.xterm", "ray:1", start_timeout=LONG) as env:
        env.reset()
        assert until_running(env, LONG).observation["vision"].shape == (768, 1024, 3)
        assert addresses(env)[0].vnc.tls is not None
        assert [actor.plan.kind for actor in described(env)] == ["process"]


def test_a_claim_waits_for_a_node_with_room(nodes):
    remotes = RayProvider(1, GAME, 40.0, resources=Resources(0.1, 0, {"later": 1}))
    with VectorEnv(GAME, remotes, start_timeout=40.0) as env:
        env.reset()
        assert env.provider.phase(0) == Phase.PLACE
        error = until(env, failed, LONG)[-1].info["error"]
        assert "no node has had room" in error and "'later': 1" in error
        assert env.provider.phase(0) == Phase.PLACE
        names = [name for name, _ in system.named(prefix(env))]
        node = nodes.add(resources={"later": 1})
        try:
            until_running(env, LONG)
            assert [name for name, _ in system.named(prefix(env))] == names, "the same claim"
        finally:
            nodes.cluster.remove_node(node)


def test_an_actor_that_is_killed_is_replaced_and_the_others_go_on(nodes):
    remotes = RayProvider(2, GAME, LONG, remotes_per_actor=1)
    with VectorEnv(GAME, remotes, start_timeout=LONG) as env:
        env.reset()
        until_running(env, LONG)
        before = addresses(env)
        handle = next(handle for name, handle in system.named(prefix(env)) if f"{prefix(env)}0-" in name)
        pid = system.get(handle.describe.remote(), LONG).pid
        os.kill(pid, signal.SIGKILL)
        cut = until(env, lambda step: step.done_n[0], LONG)
        ends = [sum(map(bool, done)) for done in zip(*(step.done_n for step in cut), strict=True)]
        assert ends[0] == 1
        back = until(env, running, LONG)
        assert not any(step.done_n[0] for step in back), "one end"
        assert addresses(env)[0] != before[0]
        assert addresses(env)[1] == before[1]


def test_a_remote_whose_process_dies_comes_back_on_the_same_actor(nodes):
    with VectorEnv(GAME, "ray:1", start_timeout=LONG) as env:
        env.reset()
        until_running(env, LONG)
        names = [name for name, _ in system.named(prefix(env))]
        before = addresses(env)
        for pid in processes("rewarder.zygote"):
            os.kill(pid, signal.SIGKILL)
        until(env, lambda step: step.done, LONG)
        until_running(env, LONG)
        assert addresses(env) != before
        assert [name for name, _ in system.named(prefix(env))] == names


def test_a_remote_that_cannot_start_says_why(nodes):
    remotes = RayProvider(1, "gym-core.NoSuch-v0", LONG)
    with VectorEnv(None, remotes, start_timeout=LONG) as env:
        env.reset()
        error = until(env, failed, LONG)[-1].info["error"]
        assert "NoSuch" in error


@pytest.mark.parametrize("text", ["ray:0", "ray:x", "ray:2@", "ray:2@sofa"])
def test_other_forms_are_refused(nodes, text):
    with pytest.raises(ConfigError, match="ray"):
        provider(text, GAME, LONG)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"remotes_per_actor": 0}, "remotes_per_actor=0"),
        ({"kind": "sofa"}, "kind='sofa'"),
        ({"reference": "image", "kind": "process"}, "reference='image'"),
        ({"address": "ray://head:10001"}, "Ray Client"),
    ],
)
def test_arguments_are_checked(nodes, arguments, message):
    with pytest.raises(ConfigError, match=message):
        RayProvider(1, GAME, **arguments)


def test_the_kind_follows_from_what_is_played(nodes):
    assert RayProvider(1, GAME).kind == "embedded"
    assert RayProvider(1, "browser.click-test").kind == "process"
    assert provider("ray:2@docker", GAME, LONG).kind == "docker"


def test_stepping_does_not_wait_for_the_cluster(nodes):
    with VectorEnv(GAME, RayProvider(1, GAME, LONG, resources=Resources(0.1, 0, {"never": 1}))) as env:
        env.reset()
        assert one_step(env).observation is None
