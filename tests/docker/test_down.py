"""`universe-client down` ends sessions for good, whatever their agents are doing meanwhile."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.remotes.agent import steps, until, wait_until
from tests.support.system.containers import command, left_behind, of_session
from universe_client.core.link import State
from universe_client.providers.containers import provider as docker
from universe_client.providers.containers.engine import Engine
from universe_client.providers.containers.owner import SESSION
from universe_client.providers.containers.removal import take_down

pytestmark = pytest.mark.docker

AT_ONCE = (0.001, 0.002)
"""A backoff that brings a container back before the next one is gone."""


def ended(env):
    return all(remote.link.state is State.CLOSED for remote in env.remotes)


def told(env):
    """Step until every remote is given up; return their errors."""
    for _ in steps(env, 60):
        if ended(env):
            return [str(remote.error) for remote in env.remotes]
    raise AssertionError("unreachable")


def end_session(engine, env):
    label = env.provider.session
    return list(take_down(engine, lambda labels: labels.get(SESSION) == label))


def test_down_removes_one_session_and_then_all(daemon, stranger, agent, running_env):
    env = running_env()
    other = agent.stdout.readline().strip()
    assert "1 container removed" in command("down", env.provider.session)
    assert len(of_session(daemon, other)) == 2
    assert all("its session was ended" in error and "universe-client down" in error for error in told(env))
    assert "2 containers removed" in command("down")
    assert left_behind(daemon) == [], "before their agents have closed"
    stranger.reload()
    assert stranger.status == "running"


def test_agents_that_restart_at_once_are_ended_all_the_same(running_env, daemon, engine):
    env = running_env(4, backoff=AT_ONCE)
    assert len(end_session(engine, env)) >= 4
    assert all("its session was ended" in error for error in told(env))
    assert left_behind(daemon) == []


@pytest.mark.parametrize("phase", ["start", "rewarder"])
def test_down_in_the_middle_of_a_start(open_env, daemon, engine, phase):
    env = open_env(2, backoff=AT_ONCE)
    env.reset()
    wait_until(lambda: env.provider.phase(0) == phase, 20, phase)
    end_session(engine, env)
    assert all("its session was ended" in error for error in told(env))
    assert left_behind(daemon) == []


@pytest.mark.parametrize("call", ["create", "start", "output", "inspect"])
def test_down_between_any_two_steps_of_a_start(open_env, daemon, engine, monkeypatch, call):
    """The daemon is asked to take the session down right before the start's `call`."""
    ends = []

    def interrupted(self, *arguments):
        if not ends:
            ends.append(list(take_down(engine, lambda labels: SESSION in labels)))
        return getattr(Engine, call)(self, *arguments)

    monkeypatch.setattr(docker, "Engine", type("Interrupted", (Engine,), {call: interrupted}))
    env = open_env(backoff=AT_ONCE)
    env.reset()
    (error,) = told(env)
    assert "its session was ended" in error
    assert len(ends[0]) == (call != "create")
    assert left_behind(daemon) == []


def test_a_container_that_another_is_removing_is_gone_when_remove_returns(daemon, engine):
    """Two who take down the same session: neither leaves before it is over."""
    container = daemon.containers.run(
        "universe-client/base", ["-c", "sleep 600"], entrypoint="sh", detach=True, labels={SESSION: "both"}
    )
    with ThreadPoolExecutor(4) as threads:

        def remove(_):
            engine.remove(container.id)
            return of_session(daemon, "both")

        assert list(threads.map(remove, range(4))) == [{}] * 4


def test_a_network_that_is_gone_ends_the_session_of_the_next_start(running_env, daemon, containers):
    env = running_env()
    (victim,) = containers(env)
    victim.remove(force=True, v=True)
    (network,) = daemon.networks.list(filters={"label": f"{SESSION}={env.provider.session}"})
    network.remove()
    until(env, lambda step: step.observation is None, 60)
    assert "the removal of the network" in told(env)[0]


def test_an_environment_closes_whose_session_was_ended(running_env, daemon, engine, caplog):
    env = running_env(2)
    end_session(engine, env)
    env.close()
    assert left_behind(daemon) == []
    assert not [record for record in caplog.records if "could not be removed" in record.getMessage()]


def test_down_and_close_at_once_leave_nothing(running_env, daemon, engine, caplog):
    env = running_env(3)
    with ThreadPoolExecutor(2) as threads:
        closing, ending = threads.submit(env.close), threads.submit(end_session, engine, env)
        closing.result(60)
        ending.result(60)
    assert left_behind(daemon) == []
    assert not [record for record in caplog.records if "could not be removed" in record.getMessage()]


def test_what_a_killed_down_has_left_is_taken_away_by_the_next(daemon, engine, running_env):
    env = running_env()
    mark = f"universe-client-{env.provider.session}-ended"
    (network,) = daemon.networks.list(filters={"label": f"{SESSION}={env.provider.session}"})
    daemon.volumes.create(mark, labels=network.attrs["Labels"])
    assert len(end_session(engine, env)) >= 1
    assert mark not in {volume.id for volume in daemon.volumes.list()}
