"""The promises of the environment, sentence by sentence: other kinds of remotes, and an agent that knows no options."""

from __future__ import annotations

import time
from typing import Any

import universe_client
from tests.support.remotes.agent import LEFT, PRESS, is_done, one_step, running, until, until_running
from vnc.events import KeyEvent


def test_a_remote_with_a_vnc_port_only_has_no_rewards(scripted, open_env):
    remote = scripted(has_rewarder=False)
    env = open_env(remote)
    env.reset()
    step = until_running(env)
    assert step.reward is None
    assert step.done is None
    assert step.info["env_status.episode_id"] is None
    env.step(PRESS)
    assert remote.wait_for_events(1) == [KeyEvent(LEFT, True)]
    env.reset()
    until_running(env)


def test_a_vnc_only_remote_that_is_lost_is_truncated_once_and_comes_back(scripted, playing):
    remote = scripted(has_rewarder=False)
    env = playing(remote)
    remote.stop_vnc()
    cut = until(env, is_done)[-1]
    assert cut.info["truncated"]
    assert cut.info["end_reason"] == "lost"
    assert cut.info["error"] is not None
    remote.restart_vnc()
    after = until(env, running)
    assert not any(step.done for step in after)


def test_an_observer_sees_all_and_does_nothing(scripted, open_env):
    remote = scripted()
    agent, observer = open_env(remote), open_env(remote, observer=True)
    agent.reset()
    until_running(agent)
    observer.reset()
    assert until_running(observer).pixel == 1
    assert remote.resets.qsize() == 1
    step = one_step(observer, PRESS)
    assert step.info["mask.masked.action"] == 1
    agent.step([[("KeyEvent", "a", True)]])
    assert remote.wait_for_events(1) == [KeyEvent(ord("a"), True)]
    remote.reward(2.0)
    assert until(observer, lambda step: step.reward == 2.0)
    observer.reset()
    assert until_running(observer).pixel == 1
    assert remote.resets.qsize() == 1


def test_an_agent_from_the_seed_document_works_unchanged(scripted):
    """Written from universe-env-semantics.txt, which knows nothing of our options."""

    def game(remote: Any, events: Any) -> None:
        """A point for each press; the third ends the episode."""
        for event in events:
            if event == KeyEvent(0xFF52, True):
                remote.presses = getattr(remote, "presses", 0) + 1
                if remote.presses % 3:
                    remote.reward(1.0)
                else:
                    remote.finish(2.0)
                    remote.next_episode()

    remotes = [scripted(on_input=game) for _ in range(3)]
    hosts = ",".join(f"127.0.0.1:{r.address.vnc.port}+{r.address.rewarder.port}" for r in remotes)
    env = universe_client.make("test.Env-v0", remotes=f"vnc://{hosts}")
    returned, finished, seen = [0.0] * 3, [0] * 3, [0] * 3
    deadline = time.monotonic() + 60
    try:
        observation_n = env.reset()
        assert observation_n == [None, None, None]
        while min(finished) < 3:
            assert time.monotonic() < deadline, finished
            action_n = [
                [("KeyEvent", "ArrowUp", True), ("KeyEvent", "ArrowUp", False)] for _ in observation_n
            ]
            observation_n, reward_n, done_n, info = env.step(action_n)
            time.sleep(0.002)  # the agent thinks; without, it would send more input than a remote can take
            assert len(info["n"]) == len(observation_n) == len(reward_n) == len(done_n) == 3
            for i, observation in enumerate(observation_n):
                assert isinstance(done_n[i], bool)
                returned[i] += reward_n[i]
                if done_n[i]:
                    finished[i] += 1 + info["n"][i]["env_status.skipped_episodes"]
                    assert returned[i] >= 4.0 * finished[i]
                if observation is not None:
                    assert observation["vision"].dtype == "uint8"
                    assert observation["vision"].shape == (16, 24, 3)
                    seen[i] += 1
        assert min(seen) >= 3
    finally:
        env.close()
