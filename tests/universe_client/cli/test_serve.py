"""`universe-client serve`, when it cannot serve."""

from __future__ import annotations

import sys

import pytest

from universe_client.cli.main import main


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
            "a_game_of_mine:Game makes a Game, not a Runtime",
        ),
        (["my.Game-v0", "--runtime", "nowhere:Game"], "No module named 'nowhere'"),
        (["my.Game-v0"], "unknown env_id 'my.Game-v0'"),
        (["builtin.NeonDrive-v0", "--call", "_road"], "'_road' is not the name of a public attribute"),
        (["builtin.NeonDrive-v0", "--novnc", "."], "is not noVNC"),
        (["builtin.NeonDrive-v0", "--host", "0.0.0.0"], "takes --tls-certificate and --tls-key"),
        (["process.xlogo", "--host", "0.0.0.0"], "takes --tls-certificate and --tls-key"),
        (["builtin.NeonDrive-v0", "--tls-key", "a.key"], "make sense together only"),
        (
            ["builtin.NeonDrive-v0", "--tls-certificate", "a.pem", "--tls-key", "a.key"],
            "certificate a.pem with",
        ),
        (["builtin.NeonDrive-v0", "--password-file", "nowhere"], "password file nowhere: No such file"),
    ],
)
def test_it_says_why_in_one_line(here, capsys, arguments, complaint):
    assert main(["serve", *arguments]) == 2
    told = capsys.readouterr().err
    assert told.startswith("universe-client: ") and told.count("\n") == 1
    assert complaint in told
