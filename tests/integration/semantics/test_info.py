"""The environment's contract, sentence by sentence: info."""

from __future__ import annotations

from dataclasses import astuple

from tests.support.remotes.agent import PRESS, Step, failed, is_done, one_step, running, until, wait_until
from universe_client.core.info import SCHEMA


def test_info_has_the_same_keys_on_every_step_in_every_state(scripted, open_env):
    remote = scripted()
    env = open_env(remote)
    env.reset()
    seen = until(env, running)
    remote.reward(1.0)
    remote.script(lambda: (remote.finish(2.0), remote.next_episode()))
    seen += until(env, is_done)
    seen += until(env, running)
    seen.append(one_step(env, PRESS))
    remote.stop()
    seen += until(env, failed)
    seen += until(env, lambda step: step.info["env_status.reason"] == "lost")
    for step in seen:
        assert step.info.keys() == SCHEMA.keys()
        for key, value in step.info.items():
            default = SCHEMA[key][0]
            assert default is None or type(value) is type(default), key


def test_reward_info_arrives_under_remote(scripted, playing):
    remote = scripted()
    env = playing(remote)
    remote.reward(1.0, info={"lives": 3, "error": "not ours"})
    info = until(env, lambda step: "remote.lives" in step.info)[-1].info
    assert info["remote.lives"] == 3
    assert info["remote.error"] == "not ours"
    assert info["error"] is None


def test_latencies_are_seconds_and_known_once_there_is_something_to_measure(scripted, playing):
    """U7."""
    remote = scripted()
    env = playing(remote)
    wait_until(lambda: env.remotes[0].link.rewarder.clock.calibrated)
    remote.reward(1.0)
    info = until(env, lambda step: step.reward == 1.0)[-1].info
    prefix = "stats.gauges.diagnostics."
    assert 0 < info[prefix + "rtt"] < 1
    assert abs(info[prefix + "clock_skew"]) < 1
    for lag in ("lag.observation", "lag.reward", "lag.rewarder_message"):
        assert -0.5 < info[prefix + lag] < 10, lag
    info = one_step(env, PRESS).info
    assert 0 < info["reaction_time"] < 10
    assert 0 < info[prefix + "lag.action"] < 10
    assert one_step(env).info["reaction_time"] is None


def test_what_the_steps_tell_of_framebuffer_traffic_adds_up(scripted, open_env):
    remote = scripted()
    env = open_env(remote)
    env.reset()
    seen = until(env, running)
    remote.paint(200)
    seen += until(env, lambda step: running(step) and step.pixel == 200)
    session = env.remotes[0].link.session

    def adds_up(step: Step) -> bool:
        """Whether the steps so far have reported everything that arrived exactly once."""
        seen.append(step)
        infos = [step.info for step in seen]
        names = [f"stats.vnc.updates.{name}" for name in ("n", "rectangles", "pixels", "bytes")]
        return (
            tuple(sum(info[name] for info in infos) for name in names) == astuple(session.stats)[: len(names)]
        )

    until(env, adds_up)
    assert session.stats.updates >= 2
    assert session.stats.pixels >= 2 * 24 * 16
