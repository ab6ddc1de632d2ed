"""`universe-client serve`, when it cannot serve."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from rewarder.client import RewarderAddress
from universe_client.cli.main import main
from universe_client.cli.pages import viewer_url
from universe_client.providers.provider import RemoteAddress
from vnc.drivers import connect
from vnc.session import VNCAddress
from vnc.vncauth import vnc_password


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working directory with a module in it that is not on Python's path."""
    (tmp_path / "a_game_of_mine.py").write_text("class Game:\n    pass\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    yield
    sys.modules.pop("a_game_of_mine", None)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            ["my.Game-v0", "--runtime", "a_game_of_mine:Game"],
            "a_game_of_mine:Game is a Game, not a rewarder.sdk.runtime.Runtime",
        ),
        (["my.Game-v0", "--runtime", "nowhere:Game"], "No module named 'nowhere'"),
        (["my.Game-v0"], "unknown env_id 'my.Game-v0'"),
        (["builtin.NeonDrive-v0", "--allow-call", "_road"], "'_road' is not the name of a public attribute"),
        (["builtin.NeonDrive-v0", "--novnc", "."], "does not contain noVNC"),
        (["builtin.NeonDrive-v0", "--host", "0.0.0.0"], "requires --tls-certificate and --tls-key"),
        (["process.xlogo", "--host", "0.0.0.0"], "requires --tls-certificate and --tls-key"),
        (["builtin.NeonDrive-v0", "--tls-key", "a.key"], "give both or none"),
        (
            ["builtin.NeonDrive-v0", "--tls-certificate", "a.pem", "--tls-key", "a.key"],
            "certificate a.pem with",
        ),
        (["builtin.NeonDrive-v0", "--password-file", "nowhere"], "password file nowhere: No such file"),
        (["builtin.NeonDrive-v0", "--host", "0.0.0.0", "--no-password"], "this requires a password"),
    ],
)
def test_it_says_why_in_one_line(here, capsys, arguments, complaint):
    assert main(["serve", *arguments]) == 2
    told = capsys.readouterr().err
    assert told.startswith("universe-client: ") and told.count("\n") == 1
    assert complaint in told


@contextmanager
def served(*arguments):
    """Serve a game with `--json`; yield its line, and end it."""
    command = [sys.executable, "-m", "universe_client", "serve", "builtin.NeonDrive-v0", "--json", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.terminate()
    assert process.returncode == 0


def agent(ready, password=None):
    return RewarderAddress("127.0.0.1", ready["rewarder_port"], password)


def test_a_random_password_is_in_a_private_file_while_it_serves():
    with served() as ready:
        path = Path(ready["password_file"])
        assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
        password = path.read_text().strip()
        assert len(password) >= 20
        remote = RemoteAddress(VNCAddress("127.0.0.1", ready["vnc_port"]), agent(ready, password))
        assert viewer_url(remote, acting=False).endswith(ready["viewer_token"])
    assert not path.exists()


def test_without_a_password_everybody_is_accepted():
    with served("--no-password") as ready:
        assert ready["password_file"] is None
        remote = RemoteAddress(VNCAddress("127.0.0.1", ready["vnc_port"]), agent(ready))
        assert viewer_url(remote, acting=True).startswith("http://127.0.0.1:")


async def test_two_passwords_come_from_files(tmp_path):
    full, view_only = tmp_path / "full", tmp_path / "view-only"
    for path in (full, view_only):
        path.touch(mode=0o600)
        path.write_text(f"{path.name}\n")
    options = ("--password-file", str(full), "--view-only-password-file", str(view_only))
    with served(*options) as ready:
        for password in ("full", "view-only"):
            address = VNCAddress("127.0.0.1", ready["vnc_port"], vnc_password(password))
            session = await connect("auto")(address, on_change=lambda: None)
            await session.close()
