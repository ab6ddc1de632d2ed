"""Scripted models do tasks through the vendors' own packages, and get the rewards that the tasks give."""

from __future__ import annotations

import pytest
from anthropic import Anthropic
from openai import OpenAI

from tests.support.models.players import DESKTOP, MINIWOB, model
from universe_client.hands import Computer
from universe_client.hands.fakes import FakeAnthropic, FakeOpenAI
from universe_client.hands.loop.anthropic import AnthropicChat
from universe_client.hands.loop.approval import Everything
from universe_client.hands.loop.openai import OpenAIChat
from universe_client.hands.loop.play import play, task_of
from universe_client.hands.loop.turn import Budget
from universe_client.providers import ProcessProvider

ALL = Everything()
PARKED = (200, 190)


def open_computer(env_id, size):
    remotes = ProcessProvider(1, env_id, screen_size=size)
    with Computer.open(env_id, remotes, format="png", reset_timeout=90) as computer:
        yield computer


@pytest.fixture(scope="module")
def desktop():
    yield from open_computer("desktop.CopyFile-v0", (800, 600))


@pytest.fixture(scope="module")
def browser():
    yield from open_computer("browser.click-test", (640, 480))


def with_claude(player, computer, task, name="claude-sonnet-5"):
    with FakeAnthropic(model(player)) as api, Anthropic(base_url=api.url, api_key="none") as client:
        chat = AnthropicChat(client, name, computer, task, confirm=ALL.confirm)
        return play(chat, computer, task, Budget(steps=12)), len(api.requests)


def with_gpt(player, computer, task, name="gpt-5.4"):
    with FakeOpenAI(model(player)) as api, OpenAI(base_url=api.url, api_key="none") as client:
        chat = OpenAIChat(client, name, computer, task, confirm=ALL.confirm, approve=ALL.approve)
        return play(chat, computer, task, Budget(steps=20)), len(api.requests)


def begin(computer, env_id, seed):
    computer.reset(env_id=env_id, seed=seed)
    if env_id in MINIWOB:
        computer.move(*PARKED)  # where the last episode left it, it may cover what is to be seen
    return task_of(computer, 10)


@pytest.mark.parametrize("vendor", [with_claude, with_gpt])
@pytest.mark.parametrize("env_id", DESKTOP)
def test_a_desktop_task_is_done(desktop, env_id, vendor):
    result, requests = vendor(DESKTOP[env_id], desktop, begin(desktop, env_id, 1))
    assert result.reward == pytest.approx(1.0), result
    assert result.done and requests == result.steps, result


@pytest.mark.parametrize("vendor", [with_claude, with_gpt])
@pytest.mark.parametrize("env_id", MINIWOB)
def test_a_page_is_done(browser, env_id, vendor):
    result, requests = vendor(MINIWOB[env_id], browser, begin(browser, env_id, 2))
    assert result.reward > 0, result
    assert result.done and requests == result.steps, result


@pytest.mark.parametrize(
    ("vendor", "name"),
    [
        (with_claude, "claude-3-5-sonnet-20241022"),
        (with_claude, "claude-haiku-4-5"),
        (with_claude, "claude-opus-4-6"),
        (with_gpt, "computer-use-preview"),
    ],
)
def test_the_older_tools_do_it_too(desktop, vendor, name):
    for env_id in ("desktop.WriteNote-v0", "desktop.ClickColour-v0"):
        result, _ = vendor(DESKTOP[env_id], desktop, begin(desktop, env_id, 3), name)
        assert result.reward == pytest.approx(1.0) and result.done, result
