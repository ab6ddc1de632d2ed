"""The options that both command lines for serving a remote have."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from rewarder.cli.serve_options import add_options, serving
from rewarder.runtimes import RuntimeOptions
from vnc.tls import Identity


@pytest.fixture
def parser():
    parser = argparse.ArgumentParser()
    parser.set_defaults(env_id="my.Game-v0")
    add_options(parser)
    return parser


def test_nothing_is_opened_unless_it_is_asked_for(parser):
    options = serving(parser.parse_args([]))
    assert (options.host, options.vnc_port, options.rewarder_port) == ("127.0.0.1", 0, 0)
    assert options.allowed_calls == []
    assert options.runtime == RuntimeOptions()


def test_what_is_asked_for_reaches_the_runtime(parser):
    line = ["--fps", "30", "--observation", "--program", "xterm -e 'my game'", "--xvnc", "800x600"]
    options = serving(parser.parse_args([*line, "--runtime", "my:Game", "--call", "a", "--call", "b"]))
    assert options.allowed_calls == ["a", "b"]
    program = ["xterm", "-e", "my game"]
    assert options.runtime == RuntimeOptions(30.0, True, program, (800, 600), "my:Game")


def test_a_certificate_and_its_key_come_together_or_not_at_all(parser):
    both = parser.parse_args(["--tls-certificate", "a.pem", "--tls-key", "b.pem"])
    assert serving(both).identity == Identity(Path("a.pem"), Path("b.pem"))
    assert serving(parser.parse_args([])).identity is None
    for option in ("--tls-certificate", "--tls-key"):
        with pytest.raises(ValueError, match="make sense together only"):
            serving(parser.parse_args([option, "a.pem"]))
