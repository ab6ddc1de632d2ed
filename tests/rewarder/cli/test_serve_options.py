"""The command-line options of a remote."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from rewarder.cli.serve_options import add_options, request, serving
from rewarder.serving import Request, Serving
from vnc.tls import Identity

NEON = "builtin.NeonDrive-v0"


@pytest.fixture
def parser():
    parser = argparse.ArgumentParser()
    add_options(parser)
    return parser


def test_there_is_one_option_for_each_field(parser):
    options = {action.dest for action in parser._actions if action.dest != "help"}
    assert options == set(Serving.__struct_fields__)


def test_without_options_there_are_the_defaults(parser):
    assert serving(parser.parse_args([])) == Serving()


def test_options_become_fields(parser):
    line = ["--fps", "30", "--env-observation", "--program", "xterm -e 'my game'", "--screen-size", "800x600"]
    line += ["--runtime", "my:Game", "--allow-call", "a", "--allow-call", "b", "--allow-host", "lab"]
    assert serving(parser.parse_args(line)) == Serving(
        fps=30.0,
        env_observation=True,
        program=["xterm", "-e", "my game"],
        screen_size=(800, 600),
        runtime="my:Game",
        allowed_calls=["a", "b"],
        allow_hosts=["lab"],
    )


@pytest.mark.parametrize("arguments", [["--fps", "0"], ["--fps", "nan"], ["--rewarder-port", "70000"]])
def test_numbers_out_of_bounds_are_usage_errors(parser, capsys, arguments):
    with pytest.raises(SystemExit, match="2"):
        parser.parse_args(arguments)
    assert arguments[0] in capsys.readouterr().err


def test_a_request_has_the_environment_and_its_options():
    asked = request("entrypoint", [NEON, "--fps", "30", "--log-level", "debug"])
    assert asked == Request(env_id=NEON, serving=Serving(fps=30.0), log_level="debug")


def test_a_certificate_and_its_key_come_together_or_not_at_all():
    both = Serving(tls_certificate="a.pem", tls_key="b.pem")
    assert both.identity == Identity(Path("a.pem"), Path("b.pem"))
    assert Serving().identity is None
    for option in ("tls_certificate", "tls_key"):
        with pytest.raises(ValueError, match="give both or none"):
            Serving(**{option: "a.pem"}).identity  # noqa: B018
