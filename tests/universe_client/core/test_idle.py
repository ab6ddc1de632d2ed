"""U6: one warning for an agent that no longer steps."""

from __future__ import annotations

import pytest

from tests.support.remotes.agent import one_step, wait_until
from tests.support.remotes.remote import by_hand
from universe_client import ConfigError
from universe_client.config import Config
from universe_client.core.idle import AgentIdle


def warnings(caplog):
    return [record.args[0] for record in caplog.records if record.name == "universe_client.core.idle"]


def test_u6_an_agent_that_stops_stepping_is_warned_once(scripted, playing, caplog):
    env = playing(scripted(), scripted(), idle_warning=0.3)
    wait_until(lambda: warnings(caplog))
    for _ in range(3):
        one_step(env)
        env.wait(0.3)
    (warning,) = warnings(caplog)
    assert isinstance(warning, AgentIdle)
    assert warning.seconds >= 0.3
    assert warning.remotes == 2
    assert "no step for 0 s while 2 remotes are running" in str(AgentIdle(0.3, 2))


def test_u6_nobody_is_warned_while_no_remote_runs(scripted, open_env, caplog):
    remote = scripted(on_reset=by_hand)
    env = open_env(remote, idle_warning=0.05)
    env.reset()
    request = remote.next_reset()
    env.wait(0.3)
    assert not warnings(caplog)
    remote.answer(request)
    wait_until(lambda: warnings(caplog))


def test_u6_the_time_is_checked():
    with pytest.raises(ConfigError, match="idle_warning=0"):
        Config(idle_warning=0)
