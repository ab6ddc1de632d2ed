"""A browser remote as an agent has it: pixels and text in, clicks out, rewards at once."""

import os
import time

import pytest

import universe_client
from tests.support.remotes.agent import one_step, running, until, until_running
from tests.support.remotes.tasks import HEIGHT, QUERY_HEIGHT, WIDTH, button
from tests.support.system.processes import descendants
from universe_client import click
from universe_client.providers import ProcessProvider

ENV_ID = "browser.click-test"


@pytest.fixture
def env():
    before = descendants(os.getpid())
    with universe_client.VectorEnv(ENV_ID, ProcessProvider(1, ENV_ID, screen_size=(640, 480))) as env:
        env.reset()
        until_running(env, 60)
        yield env
    assert descendants(os.getpid()) <= before, "processes are left after close"


def test_clicks_seen_in_pixels_are_rewarded_at_once_and_resets_are_quick(env):
    delays, resets, texts = [], [], []
    step = until(env, running)[-1]
    for _ in range(8):
        sent = time.monotonic()
        seen = [one_step(env, [click(*button(step.observation["vision"]))])]
        if not seen[-1].done_n[0]:
            seen += until(env, lambda step: step.done_n[0])
        delays.append(time.monotonic() - sent)
        assert sum(step.reward_n[0] for step in seen) > 0
        assert seen[-1].info_n[0]["terminated"] and seen[-1].info_n[0]["remote.raw_reward"] == 1
        ended = time.monotonic()
        after = until(env, running)
        resets.append(time.monotonic() - ended)
        step = after[-1]
        texts += [text for step in after for text in (step.observation_n[0] or {"text": []})["text"]]
    assert min(delays) < 0.1, delays
    assert min(resets) < 1.0, resets
    assert set(texts) <= {"Click the button."}


def test_shortcuts_of_the_browser_do_not_lead_out_of_the_page(env):
    """Window, tab, print and developer tools, the task manager: the task stays on the screen, and can be won."""
    before = until(env, running)[-1].observation_n[0]["vision"]
    for keys in (("alt", "F4"), ("ctrl", "w"), ("ctrl", "t"), ("ctrl", "p"), ("F12",), ("shift", "Escape")):
        one_step(env, [universe_client.chord(*keys)])
        for step in until_shown(env):
            assert not step.done_n[0], (keys, step.info_n[0])
    after = until(env, running)[-1].observation_n[0]["vision"]
    assert (before[QUERY_HEIGHT:HEIGHT, :WIDTH] == after[QUERY_HEIGHT:HEIGHT, :WIDTH]).all()
    assert any(is_won(env) for _ in range(3))  # the time of the first episode may be over by now


def is_won(env):
    one_step(env, [click(*button(until(env, running)[-1].observation_n[0]["vision"]))])
    return sum(step.reward_n[0] for step in until(env, lambda step: step.done_n[0])) > 0


def until_shown(env):
    """Steps for as long as something that appears takes to appear."""
    deadline = time.monotonic() + 0.5
    return until(env, lambda _: time.monotonic() > deadline)
