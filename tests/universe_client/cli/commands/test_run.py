"""What `universe-client run` hands to an agent."""

from __future__ import annotations

import re

import msgspec
import pytest

from rewarder.version import VERSION
from universe_client.cli.agents import NoopAgent
from universe_client.cli.commands.run import Run, Until, run
from universe_client.core.info import SCHEMA
from universe_client.providers.provider import RemoteAddress
from vnc.drivers import choose
from vnc.session import VNCAddress


def test_the_first_call_has_infos_to_look_into(open_env, scripted):
    calls = []

    def agent(*call):
        calls.append(call)
        return [[]] * 2

    run(Run(open_env(scripted(), scripted()), agent, None, Until(steps=1)), None, True)
    observation_n, reward_n, done_n, info = calls[0]
    assert (observation_n, reward_n, done_n) == ([None] * 2, [0.0] * 2, [False] * 2)
    assert [set(slot) for slot in info["n"]] == [set(SCHEMA)] * 2


def test_seconds_count_from_the_first_observation(open_env, scripted, capsys):
    """The remote is not up before the agent has been called more often than the run has time for."""
    late = scripted(on_reset=lambda remote, request: None)
    calls = []

    def agent(observation_n, *_):
        calls.append(observation_n[0] is not None)
        if len(calls) == 200:
            late.answer(late.resets.get(timeout=10))
        return [[]]

    env = open_env(late)
    assert run(Run(env, agent, 1000.0, Until(seconds=0.1)), None, True) == 0
    report = msgspec.json.decode(capsys.readouterr().out)
    assert not any(calls[:200]) and any(calls)
    assert report["seconds"] >= 0.1
    assert report["complaint"] is None
    assert report["driver"] == choose(env.config.driver).name


@pytest.mark.parametrize("as_json", [True, False])
def test_a_run_without_a_remote_says_why(open_env, capsys, as_json):
    nobody = RemoteAddress(VNCAddress("127.0.0.1", 1))
    env = open_env(nobody, nobody, nobody, nobody, start_timeout=0.3)
    assert run(Run(env, NoopAgent(), 100.0, Until(seconds=3600)), None, as_json) == 1
    out = capsys.readouterr().out
    told = msgspec.json.decode(out)["complaint"] if as_json else out
    assert "no remote started within " in told
    assert "remote 0 (127.0.0.1:1), connect: " in told and "refused" in told
    assert "; and 1 more" in told


def test_a_run_that_ends_too_early_says_what_the_remotes_wait_for(open_env, scripted, capsys):
    silent = scripted(on_reset=lambda remote, request: None)
    assert run(Run(open_env(silent), NoopAgent(), None, Until(steps=1)), None, True) == 1
    told = msgspec.json.decode(capsys.readouterr().out)["complaint"]
    assert "no remote started within" in told and " waits for " in told


def test_without_a_terminal_there_is_a_line_now_and_then(open_env, scripted, capsys, monkeypatch):
    monkeypatch.setattr("universe_client.cli.commands.run._LINE_EVERY", 0.05)
    assert run(Run(open_env(scripted()), NoopAgent(), 100.0, Until(seconds=0.5)), None, False) == 0
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert len(lines) >= 3
    assert all(re.match(r"\d+ s, [\d.]+ steps/s; [01] of 1 run, ", line) for line in lines)
    assert "1 of 1 run" in lines[-1]
    assert out.splitlines()[0].startswith("remotes: ")


def test_another_version_of_the_remote_is_shown(open_env, scripted, capsys, monkeypatch):
    monkeypatch.setattr("rewarder.server.upgrade.PRODUCT_TOKEN", "universe-client/0.0.9")
    assert run(Run(open_env(scripted()), NoopAgent(), 100.0, Until(seconds=0.1)), None, False) == 0
    assert f"0: universe-client 0.0.9 there, {VERSION} here" in capsys.readouterr().out


def test_what_a_remote_asks_for_is_in_the_report(open_env, scripted, capsys):
    def asked(remote, request):
        remote.answer(request)
        remote.text("press space")

    def agent(observation_n, *_):
        seen.append(observation_n[0] is not None and observation_n[0]["instruction"])
        return [[]]

    seen = []
    env = open_env(scripted(on_reset=asked))
    assert run(Run(env, agent, 100.0, Until(seconds=0.5)), None, True) == 0
    assert msgspec.json.decode(capsys.readouterr().out)["remotes"][0]["task"] == "press space", seen
