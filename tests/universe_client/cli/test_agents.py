"""`--agent module:callable`: errors are one line, with the agent's signature and place."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from universe_client.cli.agents import SIGNATURE
from universe_client.cli.main import main

_NUMBERS = itertools.count()


@pytest.fixture
def run_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str]]:
    """Run `agent.act` of a module with this text; return the status and the module's name."""
    monkeypatch.chdir(tmp_path)

    def play(text: str, *options: str) -> tuple[int, str]:
        module = f"agent_{next(_NUMBERS)}"
        Path(f"{module}.py").write_text(text)
        command = ["run", "builtin.NeonDrive-v0", "--remotes", "2", "--steps", "3", *options]
        return main([*command, "--agent", f"{module}:act"]), module

    return play


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("def act(observation_n, reward_n, done_n, info):\n    return [1 / 0]\n",
         "raised ZeroDivisionError: division by zero at {}.py:2"),
        ("import universe_client\ndef act(*step):\n    return universe_client.key('Jump', True)\n",
         "at {}.py:3"),
        ("def act(*step):\n    pass\n", "returned None, not a list of events for each of 2 remotes"),
        ("def act(*step):\n    return 7\n", "returned 7 (int), not a list"),
        ("def act(*step):\n    return [[]]\n", "returned [[]] (list), not a list of events for each of 2 remotes"),
        ("def act(*step):\n    return 'up'\n", "returned 'up' (str), not a list"),
        ("def act(observation):\n    return []\n", "with 4 arguments (too many positional arguments)"),
        ("def act(a, b, c, d, e):\n    return []\n", "missing a required argument: 'e'"),
        ("class act:\n    def __call__(self, observation):\n        return []\n", "too many positional arguments"),
        ("class act:\n    pass\n", "is not callable"),
    ],
)  # fmt: skip
def test_a_wrong_agent_gets_one_line_with_the_signature(run_agent, capsys, text, complaint):
    status, module = run_agent(text)
    told = capsys.readouterr()
    assert status == 2
    assert told.err.startswith(f"universe-client: agent {module}:act ") and told.err.count("\n") == 1
    assert complaint.format(module) in told.err
    assert SIGNATURE in told.err
    assert not told.out, "no summary of a run that was none"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("def act(:\n", "SyntaxError: invalid syntax ({0}.py, line 1) at {0}.py:1"),
        ("\nact = nobody\n", "NameError: name 'nobody' is not defined at {}.py:2"),
        ("import json\nact = json.nobody\n", "AttributeError: module 'json' has no attribute 'nobody' at {}.py:2"),
        ("class act:\n    def __init__(self):\n        raise OSError('no\\nmodel')\n", "OSError: no model at {}.py:3"),
    ],
)  # fmt: skip
def test_an_agent_that_cannot_be_made_gets_one_line_that_says_where(run_agent, capsys, text, complaint):
    status, module = run_agent(text)
    told = capsys.readouterr().err
    assert status == 2
    assert told.count("\n") == 1 and complaint.format(module) in told


def test_the_traceback_of_an_agent_is_in_the_log(run_agent, caplog):
    caplog.set_level("DEBUG", "universe_client.cli.agents")
    run_agent("def act(*step):\n    return [1 / 0]\n")
    (record,) = [record for record in caplog.records if record.name == "universe_client.cli.agents"]
    assert record.levelname == "DEBUG" and record.exc_info[0] is ZeroDivisionError


def test_the_signature_is_in_the_help(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["run", "--help"])
    told = capsys.readouterr().out
    assert SIGNATURE in told
    assert all(
        f"\n  {name}  " in told for name in ("observation_n", "reward_n", "done_n", "info", "action_n")
    )
