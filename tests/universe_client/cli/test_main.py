"""The command line's help and errors for new users."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from universe_client.cli.main import COMMANDS, main
from universe_client.renamed import OPTIONS


def test_without_a_command_it_says_which_there_are(capsys):
    assert main([]) == 2
    told = capsys.readouterr().err
    assert all(f"  {command}  " in told for command in ("run", "serve", "doctor"))
    assert "examples:" in told


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["run"], "needs an env_id, such as builtin.NeonDrive-v0"),
        (["run", "builtin.NeonDrive-v0", "--keys", "Left,Jump"], "no key is called 'Jump'"),
        (["run", "builtin.NeonDrive-v0", "--agent", "none"], "'none' is not random, noop or module:"),
        (["run", "builtin.NeonDrive-v0", "--agent", "nowhere:act"], "No module named 'nowhere'"),
        (["run", "builtin.NeonDrive-v0", "--agent", "json:nobody"], "'json' has no 'nobody'"),
        (["run", "builtin.NeonDrive-v0", "--agent", "json:__doc__"], "json:__doc__ is not callable"),
        (["run", "builtin.NeonDrive-v0", "--remotes", "-1"], "remotes='-1' is no number, embedded:N"),
        (["view", "localhost:5900"], "an address starts with vnc://"),
        (["view", "vnc://localhost:1+2"], "localhost:2: Connection refused"),
        (["build", "--source", "/dev"], "no docker/base/Dockerfile in /dev"),
    ],
)
def test_it_says_in_one_line_what_is_wrong(capsys, arguments, complaint):
    assert main(arguments) == 2
    told = capsys.readouterr().err
    assert told.startswith("universe-client: ") and told.count("\n") == 1
    assert complaint in told


@pytest.mark.parametrize("command", ["build", "ps", "down", "reap"])
def test_without_a_daemon_it_says_what_to_start(capsys, monkeypatch, command):
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere")
    monkeypatch.chdir(Path(__file__).parents[3])  # a checkout, for build
    assert main([command]) == 1
    out, err = capsys.readouterr()
    assert err.startswith("universe-client: no Docker daemon answers at unix:///nowhere")
    assert not out.strip()


@pytest.mark.parametrize(
    ("option", "value"),
    [("--step-rate", "0"), ("--steps", "-1"), ("--seconds", "0"), ("--episodes", "1.5")],
)
def test_a_limit_that_is_none_is_refused(capsys, option, value):
    with pytest.raises(SystemExit, match="2"):
        main(["run", "builtin.NeonDrive-v0", option, value])
    assert f"argument {option}: {value!r} is not a" in capsys.readouterr().err


def test_a_warning_is_one_line(capsys, monkeypatch):
    monkeypatch.setattr(
        "universe_client.cli.commands.doctor.doctor", lambda: warnings.warn("it is slow", stacklevel=1) or 0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert main(["doctor"]) == 0
    assert capsys.readouterr().err == "universe-client: it is slow\n"


def test_the_doctor_tells_what_is_missing_from_what_does_harm(capsys, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere")
    assert main(["doctor"]) == 0
    told = capsys.readouterr().out
    assert re.search(r"^ - +docker +not usable", told, re.MULTILINE)
    assert re.search(r"^ yes +a remote +runs", told, re.MULTILINE)
    assert "Agents can run here." in told


@pytest.mark.parametrize(
    ("command", "old", "new"),
    [(name, old, new) for name, table in OPTIONS.items() for old, new in table.items()],
)
def test_an_old_option_is_a_usage_error_that_names_the_new_one(capsys, command, old, new):
    with pytest.raises(SystemExit, match="2"):
        main([command, "builtin.NeonDrive-v0", old, "1"])
    assert f"error: {old} is now {new}" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(capsys, command):
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    help_text = capsys.readouterr().out
    assert help_text.startswith(f"usage: universe-client {command} ") and "--log-level" in help_text


def test_a_command_imports_no_other_command():
    code = """
import sys
from universe_client.cli.main import command_parser
command_parser(["doctor"]).parse_args(["doctor"])
assert "universe_client.cli.commands.doctor" in sys.modules
assert not {"universe_client.cli.commands.run", "universe_client.cli.commands.view"} & sys.modules.keys()
"""
    subprocess.run([sys.executable, "-c", code], check=True)
