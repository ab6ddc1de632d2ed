"""`universe-client run --agent anthropic:MODEL`: a model from the command line, on a scripted remote."""

from __future__ import annotations

import io

import msgspec
import pytest
from websockets.sync.client import connect

from universe_client.cli.main import main
from universe_client.hands import Click
from universe_client.hands.fakes import FakeAnthropic, FakeOpenAI, Turn
from universe_client.recording.reading import Recording

CLAUDE, GPT = "anthropic:claude-sonnet-5", "openai:gpt-5.4"


@pytest.fixture
def driver():
    return "native"


@pytest.fixture
def api(monkeypatch):
    """Both APIs, with a model that clicks once a turn."""

    def click(seen):
        return Turn([Click(3, 4)], f"turn {seen.turn}: {seen.task}")

    for key in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(key, "none")
    with FakeAnthropic(click) as claude, FakeOpenAI(click) as gpt:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", claude.url)
        monkeypatch.setenv("OPENAI_BASE_URL", gpt.url)
        yield


@pytest.fixture
def remote(scripted):
    """A remote whose screen changes with each click, and whose episode ends with the third."""
    clicks = []

    def count(remote, events):
        clicks.extend(event for event in events if getattr(event, "button_mask", 0))
        remote.paint(50 * len(clicks))
        if len(clicks) == 3:
            remote.finish(1.0)

    return scripted(on_input=count)


def run(remote, *options):
    address = remote.address
    return main(["run", "--remotes", f"vnc://{address.vnc}+{address.rewarder.port}", *options])


@pytest.mark.parametrize("agent", [CLAUDE, GPT])
def test_a_model_plays_an_episode_and_its_result_is_printed(api, remote, agent, capsys, tmp_path):
    folder = tmp_path / "run"
    options = ["--agent", agent, "--approve", "all", "--task", "Click!", "--transcript", str(folder)]
    assert run(remote, *options, "--json") == 0
    report = msgspec.json.decode(capsys.readouterr().out)
    (episode,) = report["episodes"]
    assert report["agent"] == agent and episode["reward"] == 1.0 and episode["done"]
    assert episode["steps"] == 3 and "Click!" in episode["text"]
    assert "Click!" in (folder / "index.html").read_text()


def test_a_run_is_recorded_and_watched(remote, monkeypatch, capsys, tmp_path):
    seen_live = []

    def click(seen):
        """Act when a page shows the screen, while the model thinks."""
        url = capsys.readouterr().out.partition("watch at ")[2].split()[0] if not seen_live else ""
        if url:
            host, token = url.removeprefix("http://").split("/#")
            with connect(f"ws://{host}/tiles?token={token}") as socket:
                socket.send('{"size": 320, "large": 320, "open": 0}')
                while isinstance(message := socket.recv(timeout=60), str):
                    pass
                seen_live.append(message)
        return Turn([Click(3, 4)], "")

    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    with FakeAnthropic(click) as claude:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", claude.url)
        options = ["--agent", CLAUDE, "--approve", "all", "--record", str(tmp_path / "run"), "--watch"]
        assert run(remote, *options, "--task", "Click!") == 0
    assert seen_live
    episodes = [episode for episode in Recording(tmp_path / "run").episodes if episode.actions]
    assert [(episode.score, episode.end_reason) for episode in episodes] == [(1.0, "terminated")]
    presses = [event for _, events in episodes[0].actions for event in events if event[3] == 1]
    assert presses == [["PointerEvent", 3, 4, 1]] * 3
    assert episodes[0].frames


def test_without_json_a_person_sees_it(api, remote, capsys):
    assert run(remote, "--agent", CLAUDE, "--approve", "all", "--steps", "2", "--task", "Click!") == 0
    shown = capsys.readouterr().out
    assert 'left_click {"coordinate": [3, 4]}' in shown and "the budget of 2 steps is used up" in shown


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "there is no terminal to ask at: use --approve all"),
        (["--approve", "all", "--mode", "lockstep"], "a language model plays in real time"),
        (["--approve", "all", "--remotes", "2"], "a language model plays one remote, not 2"),
        (["--approve", "all", "--take-over"], "nobody can take over from a language model"),
    ],
)
def test_what_a_model_cannot_do_is_said(api, options, words, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert main(["run", "builtin.NeonDrive-v0", "--agent", CLAUDE, *options]) == 2
    assert words in capsys.readouterr().err


def test_an_api_that_refuses_is_one_line_and_status_1(remote, monkeypatch, capsys):
    def broken(seen):
        raise ValueError("overloaded")

    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with FakeOpenAI(broken) as api:
        monkeypatch.setenv("OPENAI_BASE_URL", api.url)
        assert run(remote, "--agent", GPT, "--approve", "all", "--json") == 1
    printed = capsys.readouterr()
    assert "overloaded" in printed.err and msgspec.json.decode(printed.out)["episodes"] == []
