"""The options that both command lines for serving a remote have."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from rewarder.runtimes import RuntimeOptions
from rewarder.serve_options import add_options, runtime_options, tls_identity
from vnc.tls import Identity


@pytest.fixture
def parser():
    parser = argparse.ArgumentParser()
    add_options(parser)
    return parser


def test_nothing_is_opened_unless_it_is_asked_for(parser):
    options = parser.parse_args([])
    assert (options.host, options.vnc_port, options.rewarder_port) == ("127.0.0.1", 0, 0)
    assert options.call == []
    assert runtime_options(options) == RuntimeOptions()


def test_what_is_asked_for_reaches_the_runtime(parser):
    line = ["--fps", "30", "--observation", "--program", "xterm -e 'my game'", "--xvnc", "800x600"]
    options = parser.parse_args([*line, "--runtime", "my:Game", "--call", "a", "--call", "b"])
    assert options.call == ["a", "b"]
    program = ["xterm", "-e", "my game"]
    assert runtime_options(options) == RuntimeOptions(30.0, True, program, (800, 600), "my:Game")


def test_a_certificate_and_its_key_come_together_or_not_at_all(parser):
    both = parser.parse_args(["--tls-certificate", "a.pem", "--tls-key", "b.pem"])
    assert tls_identity(both) == Identity(Path("a.pem"), Path("b.pem"))
    assert tls_identity(parser.parse_args([])) is None
    for option in ("--tls-certificate", "--tls-key"):
        with pytest.raises(ValueError, match="make sense together only"):
            tls_identity(parser.parse_args([option, "a.pem"]))
