"""`universe-client mcp` as a host starts it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from contextlib import asynccontextmanager

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from tests.support.system.processes import descendants

COMMAND = [sys.executable, "-m", "universe_client", "mcp"]


@asynccontextmanager
async def hosted(*arguments):
    parameters = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], *arguments], cwd=os.getcwd())
    async with Client(parameters) as client:
        yield client


async def test_a_host_plays_a_game_and_nothing_is_left_of_it():
    before = descendants(os.getpid())
    async with hosted("builtin.NeonDrive-v0", "--seed", "3") as client:
        result = await client.call_tool(
            "do", {"actions": [{"action": "hold", "keys": "Left", "seconds": 0.2}]}
        )
        assert not result.is_error and result.content[0].text.startswith("remote-0 (320x240 pixels):")
        assert descendants(os.getpid()) - before
    assert descendants(os.getpid()) <= before


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_it_while_its_host_keeps_stdin_open(number, status):
    before = descendants(os.getpid())
    server = subprocess.Popen(
        [*COMMAND, "builtin.NeonDrive-v0"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with server:
        server.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        server.stdin.flush()
        assert server.stdout.readline()  # it serves
        server.send_signal(number)
        assert server.wait(60) == status
        assert server.stderr.read() == b"universe-client: interrupted\n"
    assert descendants(os.getpid()) <= before


def test_over_http_the_token_is_printed_or_kept_in_a_private_file(tmp_path):
    path = tmp_path / "token"
    for given, known in ((["--token-file", path], False), (["--token-file", path], True), ([], True)):
        assert path.exists() is known
        server = subprocess.Popen(
            [*COMMAND, "--http", "0", *given, "builtin.NeonDrive-v0"], stderr=subprocess.PIPE
        )
        with server:
            first, second = (server.stderr.readline().decode() for _ in range(2))
            server.send_signal(signal.SIGTERM)
            server.wait(60)
        assert re.match(r"MCP at http://127\.0\.0\.1:\d+/mcp;", first), first
        assert re.match(r"  its token \S{43}$" if not given else rf"  its token in {path}$", second), second
    assert path.stat().st_mode & 0o777 == 0o600 and len(path.read_text().strip()) == 43


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--token-file", "x"], "need --http"),
        (["--http", "0.0.0.0:1"], "can be reached from other machines"),
        (["--remotes", "process:0"], "process:0"),
    ],
)
def test_what_cannot_be_served_is_said_in_one_line(arguments, said):
    done = subprocess.run(
        [*COMMAND, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2 and said in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr


def test_without_the_extra_it_says_what_to_install():
    code = "import sys; sys.modules['mcp'] = None; from universe_client.cli.main import main; sys.exit(main(['mcp']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "pip install '.[mcp]'" in done.stderr, done.stderr
