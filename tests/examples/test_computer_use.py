"""The example with a language model, with a script in the model's place."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from universe_client.hands import Press
from universe_client.hands.fakes import FakeAnthropic, FakeOpenAI, Turn

EXAMPLE = Path(__file__).parents[2] / "examples" / "computer_use.py"


def steers(seen):
    return Turn([Press("Left")], "I steer.") if seen.turn < 2 else Turn(text="That was it.")


def run(*arguments, cwd):
    return subprocess.run(
        [sys.executable, str(EXAMPLE), *arguments],
        capture_output=True,
        text=True,
        timeout=200,
        cwd=cwd,
        check=False,
    )


@pytest.mark.parametrize(
    ("fake", "name", "prefix"),
    [(FakeAnthropic, "anthropic:claude-sonnet-5", "ANTHROPIC"), (FakeOpenAI, "openai:gpt-5.4", "OPENAI")],
)
def test_a_model_plays_and_leaves_a_transcript(fake, name, prefix, monkeypatch, tmp_path):
    with fake(steers) as api:
        monkeypatch.setenv(f"{prefix}_BASE_URL", api.url)
        monkeypatch.setenv(f"{prefix}_API_KEY", "none")
        done = run(name, "builtin.NeonDrive-v0", "--approve", "all", "--task", "Drive.", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "I steer." in done.stdout and "reward" in done.stdout.splitlines()[-1]
    assert "I steer." in (tmp_path / "transcript" / "index.html").read_text()


def test_it_is_short_and_asks_for_a_key(monkeypatch, tmp_path):
    assert len(EXAMPLE.read_text().splitlines()) <= 80
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    done = run("openai:gpt-5.4", "builtin.NeonDrive-v0", cwd=tmp_path)
    assert done.returncode != 0 and "in the environment variable OPENAI_API_KEY" in done.stderr
