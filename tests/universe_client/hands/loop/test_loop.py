"""A model's run: its turns, its budget, its end, its transcript and what a person is asked."""

from __future__ import annotations

import io
import re
from types import SimpleNamespace

import anthropic
import msgspec
import openai
import pytest
from rich.console import Console

from universe_client.errors import ConfigError, ModelError
from universe_client.hands import Click, Move, Type, Wait
from universe_client.hands.fakes import FakeAnthropic, FakeOpenAI, Turn
from universe_client.hands.loop.anthropic import AnthropicChat, tool_for
from universe_client.hands.loop.approval import Approval, Everything
from universe_client.hands.loop.live import Live
from universe_client.hands.loop.models import begin, check_model, is_model
from universe_client.hands.loop.openai import OpenAIChat
from universe_client.hands.loop.play import EPISODE_ENDED, play, task_of
from universe_client.hands.loop.transcript import Transcript
from universe_client.hands.loop.turn import Act, Budget
from universe_client.hands.loop.words import NO_TASK
from vnc.events import PointerEvent

ALL = Everything()


def claude(model, hands, permits=ALL, name="claude-sonnet-5"):
    api = FakeAnthropic(model)
    client = anthropic.Anthropic(base_url=api.url, api_key="none", max_retries=0)
    return AnthropicChat(client, name, hands, "Do it.", confirm=permits.confirm, owns_client=True), api


def gpt(model, hands, permits=ALL, name="gpt-5.4"):
    api = FakeOpenAI(model)
    client = openai.OpenAI(base_url=api.url, api_key="none", max_retries=0)
    return OpenAIChat(
        client, name, hands, "Do it.", confirm=permits.confirm, approve=permits.approve, owns_client=True
    ), api


VENDORS = pytest.mark.parametrize("vendor", [claude, gpt])


@pytest.fixture
def run(computer):
    """Play a scripted model on a scripted remote."""
    apis = []

    def run(vendor, model, budget=Budget(), watchers=(), permits=ALL, **options):  # noqa: B008
        hands, remote = computer(**options)
        chat, api = vendor(model, hands, permits)
        apis.append(api)
        return play(chat, hands, "Do it.", budget, watchers), remote, api

    yield run
    for api in apis:
        api.close()


def moves(seen):
    return Turn([Move(seen.turn % 20, 1)])


@VENDORS
def test_thirty_steps_are_thirty_calls_of_the_api(run, vendor):
    result, remote, api = run(vendor, lambda seen: moves(seen) if seen.turn < 30 else Turn(text="Done."))
    assert (result.steps, len(api.requests)) == (31, 31), "the last one says that it is done"
    assert result.acts == (60 if vendor is claude else 30), "Claude looks in the same turn"
    assert [event.x for event in remote.events] == [turn % 20 for turn in range(30)]
    assert result.text == "Done." and "the model has stopped" in result.reason and not result.done


@VENDORS
def test_the_run_ends_with_the_episode_and_has_its_reward(run, vendor):
    result, _, api = run(vendor, moves, on_input=lambda remote, events: remote.finish(0.5))
    assert (result.reason, result.done, result.reward) == (EPISODE_ENDED, True, 0.5)
    assert len(api.requests) == result.steps <= 2


@VENDORS
@pytest.mark.parametrize(
    ("budget", "words"),
    [
        (Budget(steps=3), "the budget of 3 steps is used up"),
        (Budget(tokens=2500), "the budget of 2500 tokens is used up"),
        (Budget(seconds=0.5), "the budget of 0.5 seconds is used up"),
    ],
)
def test_a_budget_ends_the_run(run, vendor, budget, words):
    result, _, _ = run(vendor, moves, budget)
    assert result.reason == words and not result.done
    assert result.steps == 3 or budget.steps != 3


@VENDORS
def test_a_model_that_errs_is_told_and_can_go_on(run, vendor):
    notes = []

    def errs(seen):
        notes.append(" ".join(seen.notes))
        return [Turn([Click(99, 1)]), Turn([Click(5, 1)]), Turn()][seen.turn]

    result, remote, _ = run(vendor, errs)
    assert "x=99 is outside the picture, which is 24x16" in notes[1] and "outside" not in notes[2]
    assert remote.events[-1] == PointerEvent(5, 1, 0) and result.steps == 3


@VENDORS
def test_an_act_without_permission_is_not_played(run, vendor):
    questions = []

    def never(question):
        questions.append(question)
        return "no"

    def types(seen):
        return [Turn([Type("rm -rf /\u202e")]), Turn()][seen.turn]

    _, remote, _ = run(vendor, types, permits=Approval(never))
    assert remote.events == []
    assert questions == [r'allow type {"text": "rm -rf /\u202e"} [y]es, [n]o, [a]ll from now on: ']


def test_a_person_can_permit_one_act_or_all():
    answers = iter(["y", "", "ALL", "n", "yes"])
    approval = Approval(lambda question: next(answers))
    assert approval.confirm("screenshot", {}), "looking needs no permission"
    assert [approval.confirm("type", {}) for _ in range(4)] == [True, False, True, True]
    check = SimpleNamespace(message="mal\x1bware")
    assert [approval.approve([check]) for _ in range(2)] == [False, True], (
        "asked even if everything is permitted"
    )
    assert ALL.confirm("type", {}) and not ALL.approve([check])


@VENDORS
def test_a_failing_api_is_an_error_of_the_model(run, vendor):
    def broken(seen):
        raise ValueError("overloaded")

    with pytest.raises(ModelError, match="overloaded"):
        run(vendor, broken)


@VENDORS
def test_the_transcript_has_what_the_model_saw_said_and_did(run, vendor, tmp_path):
    turns = [Turn([Click(12, 8), Wait(0)], "<b>I click</b>"), Turn([Click(50, 1)]), Turn(text="Done.")]
    folder = tmp_path / "run"
    result, _, _ = run(
        vendor, lambda seen: turns[seen.turn], watchers=[Transcript(folder, "a <title>", (24, 16))]
    )
    page = (folder / "index.html").read_text()
    assert "&lt;b&gt;I click&lt;/b&gt;" in page and "<b>" not in page and "a &lt;title&gt;" in page
    assert 'style="left:50.00%;top:50.00%"' in page and "x=50 is outside the picture" in page
    assert "default-src 'none'" in page
    pictures = re.findall(r'<img src="(\d+\.png)"', page)
    assert pictures and all((folder / name).read_bytes().startswith(b"\x89PNG") for name in pictures)
    lines = [msgspec.json.decode(line) for line in (folder / "turns.jsonl").read_text().splitlines()]
    assert [sorted(line)[0] for line in lines] == ["picture", "acted", "acted", "acted", "result"]
    assert lines[-1]["result"]["steps"] == result.steps == 3
    with pytest.raises(ConfigError, match="is not empty"):
        Transcript(folder, "", (1, 1))


@VENDORS
def test_a_person_sees_what_happens(run, vendor):
    out = io.StringIO()
    console = Console(file=out, width=200, markup=False)
    turns = [Turn([Click(3, 4)], "I click\x1b[2J"), Turn([Click(50, 1)]), Turn(text="Done.")]
    budget = Budget(steps=9)
    with Live(console, budget) as live:
        run(vendor, lambda seen: turns[seen.turn], budget, [live])
    shown = out.getvalue()
    assert (
        "Do it." in shown and "click" in shown and "x=50 is outside the picture" in shown and "Done." in shown
    )
    assert "the model has stopped" in shown and "\x1b[2J" not in shown and "\\u001b[2J" in shown


def test_a_task_that_comes_late_is_waited_for(computer):
    hands, remote = computer()
    assert task_of(hands, 0.05) == NO_TASK
    remote.text("Click it.")
    assert task_of(hands, 60) == "Click it."


def test_models_have_the_newest_tool_that_they_know():
    assert tool_for("claude-opus-5") == tool_for("claude-something-new") == "computer_toolset_20260801"
    assert tool_for("claude-3-5-sonnet-20241022") == "computer_20241022"
    assert tool_for("claude-sonnet-4-5") == "computer_20250124"
    assert tool_for("claude-opus-4-7") == "computer_20251124"


def test_what_a_model_needs_is_said(monkeypatch, computer):
    assert is_model("openai:gpt-5.4") and not any(map(is_model, ("random", "mine:act", "openai", "openai:")))
    for key in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY"):
        monkeypatch.delenv(key, raising=False)
    with pytest.raises(ConfigError, match="in the environment variable ANTHROPIC_API_KEY"):
        check_model("anthropic:claude-opus-5")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"needs the package openai: pip install '\.\[openai\]'"):
        begin("openai:gpt-5.4", computer()[0], "", ALL)
    with pytest.raises(ConfigError, match="'mine' is not anthropic:MODEL or openai:MODEL"):
        check_model("mine")


def test_an_act_is_one_line_of_ascii():
    assert str(Act("type", {"text": "a\nb\u202e"})) == r'type {"text": "a\nb\u202e"}'
    assert str(Act("screen\nshot", {})) == r"screen\nshot"
