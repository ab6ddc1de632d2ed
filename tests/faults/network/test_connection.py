"""An established connection is lost, cut, slow or not read."""

from __future__ import annotations

import gc
import threading
import time
from dataclasses import replace

import pytest

from tests.support.fixtures import QUICK
from tests.support.remotes.agent import failed, is_done, one_step, running, until, until_running
from tests.support.timing import StepTimes, Stopwatch
from universe_client.errors import PeerLost
from vnc.session import Limits

ONE_SCREEN = 24 * 16 * 4


@pytest.mark.fault("F3", "VNC server SIGKILL")
def test_f3_a_killed_vnc_server_cuts_the_slot_once_and_it_comes_back(scripted, playing, measure):
    one, other = scripted(), scripted()
    env = playing(one, other)
    one.reward(2.0)
    seen = until(env, lambda step: step.reward_n[0])  # the channels have no common order
    one.stop_vnc()
    watch = Stopwatch()
    seen += until(env, lambda step: step.done_n[0])
    measure("time to the error", watch.seconds, at_most=1, unit="s")
    cut = seen[-1]
    assert "probe" not in cut.info["error"], "it was not seen at once"
    assert cut.info["truncated"]
    assert cut.info["end_reason"] == "lost"
    assert "remote 0 (127.0.0.1:" in cut.info["error"]
    assert isinstance(env.remotes[0].error, PeerLost)
    assert sum(step.reward_n[0] for step in seen) == 2.0
    assert all(step.observation_n[1] is not None for step in seen), "the other slot noticed"
    one.restart_vnc()
    after = until(env, running)
    assert not any(step.done_n[0] for step in after)
    assert all(step.observation_n[1] is not None for step in after)


@pytest.mark.fault("F4", "rewarder SIGSTOP / SIGKILL")
def test_f4_error_and_truncation_are_told_by_one_step(scripted, open_env):
    remote = scripted()
    env = open_env(remote)
    env.reset()
    for round_ in range(15):
        until_running(env)
        if round_ % 2:
            remote.stop_rewarder()
            restart = remote.restart_rewarder
        else:
            remote.stop_vnc()
            restart = remote.restart_vnc
        deadline = time.monotonic() + 60
        while not (step := one_step(env)).done:
            assert step.info["error"] is None, "the error came before its truncation"
            assert time.monotonic() < deadline
        assert step.info["error"] is not None, "the truncation came before its error"
        restart()


@pytest.mark.fault("F5", "both die at once")
def test_f5_both_die_at_once_and_it_is_told_once(scripted, playing, caplog, measure):
    remote = scripted()
    env = playing(remote, backoff=(5.0, 5.0))
    remote.stop()
    seen = until(env, is_done)
    seen += [one_step(env) for _ in range(50) if not env.wait(0.005)]
    measure("ends", sum(step.done for step in seen), equals=1)
    measure("errors", sum(step.info["error"] is not None for step in seen), equals=1)
    gc.collect()
    assert not [record for record in caplog.records if "never retrieved" in record.getMessage()]


@pytest.mark.fault("F6", "half-open TCP")
def test_f6_a_stalled_connection_is_lost_after_the_probe_deadline(scripted, playing, proxied):
    proxy, address = proxied(scripted())
    env = playing(address, timeouts=replace(QUICK, probe_interval=0.2, probe_deadline=0.3))
    proxy.stall()
    cut = until(env, is_done)[-1]
    assert "no answer to a probe within 0.3 s" in cut.info["error"]
    proxy.flow()
    until_running(env)


@pytest.mark.fault("F2", "SIGCONT within deadline")
def test_f2_a_stall_within_the_deadline_is_no_loss(scripted, playing, proxied, measure):
    remote = scripted()
    proxy, address = proxied(remote)
    env = playing(address, timeouts=replace(QUICK, probe_interval=0.2, probe_deadline=8.0))
    proxy.stall()
    remote.paint(99)
    threading.Event().wait(0.5)
    proxy.flow()
    watch = Stopwatch()
    seen = until(env, lambda step: step.observation is not None and step.pixel == 99)
    measure("time to the next frame", watch.seconds, at_most=1, unit="s")
    assert not any(step.done for step in seen)
    assert proxy.accepted == 1


@pytest.mark.fault("F7", "RST")
@pytest.mark.parametrize("channel", ["vnc", "rewarder"])
def test_f7_a_reset_connection_is_lost_at_once(scripted, playing, proxied, measure, channel):
    proxy, address = proxied(scripted(), channel)
    env = playing(address)
    proxy.reset()
    watch = Stopwatch()
    cut = until(env, is_done)[-1]
    measure("time to the error", watch.seconds, at_most=1, unit="s")
    assert isinstance(env.remotes[0].error, PeerLost)
    assert cut.info["error"] is not None
    assert not {"probe", "pong"} & set(cut.info["error"].split()), "it was not seen at once"
    until_running(env)


@pytest.mark.fault("F7", "RST")
def test_f7_a_half_closed_connection_is_lost(scripted, playing, proxied):
    proxy, address = proxied(scripted())
    env = playing(address)
    proxy.half_close()
    assert until(env, is_done)[-1].info["end_reason"] == "lost"
    until_running(env)


@pytest.mark.parametrize("cut_after", [0, 5, 12, 30, 60, 90, ONE_SCREEN])
def test_a_connection_cut_anywhere_is_made_again(scripted, open_env, proxied, cut_after):
    proxy, address = proxied(scripted(), cut_after=cut_after)
    env = open_env(address)
    env.reset()
    until(env, failed)
    proxy.cut_after = None
    until_running(env)
    assert proxy.accepted >= 2


@pytest.mark.fault("F11", "byte-at-a-time and giant reads")
def test_f11_latency_and_small_pieces_change_nothing(scripted, open_env, proxied):
    remote = scripted()
    _, address = proxied(remote, split=40, latency=0.0002)
    env = open_env(address, timeouts=replace(QUICK, update=20.0, handshake=20.0))
    env.reset()
    assert until_running(env).pixel == 1
    remote.script(lambda: (remote.finish(1.0), remote.next_episode()))
    until(env, is_done)
    assert until_running(env).pixel == 2


@pytest.mark.fault("F29", "peer never reads our bytes")
def test_f29_a_remote_that_does_not_read_is_lost_and_step_never_waits(scripted, playing, proxied, measure):
    remote = scripted(has_rewarder=False)
    proxy, address = proxied(remote)
    env = playing(
        address,
        limits=Limits(outgoing=16 * 1024),
        timeouts=replace(QUICK, probe_interval=60.0, probe_deadline=60.0),
    )
    proxy.stop_reading()
    action = [[("PointerEvent", 1, 2, 0)] * 500]
    times, deadline = StepTimes(), time.monotonic() + 100
    while not (step := times.time(lambda: one_step(env, action))).info["error"]:
        assert time.monotonic() < deadline
    assert "does not read" in step.info["error"]
    measure("step, 99th percentile", times.p99, at_most=5, unit="ms")
    measure("longest step", max(times.seconds), at_most=5, unit="s")
