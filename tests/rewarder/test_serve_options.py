"""The options that both command lines for serving a remote have."""

from __future__ import annotations

import argparse

import pytest

from rewarder.runtimes import RuntimeOptions
from rewarder.serve_options import add_options, runtime_options


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
