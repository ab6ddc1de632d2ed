"""What `universe-client doctor` prints."""

from __future__ import annotations

import pytest

from rewarder.version import VERSION
from universe_client.cli.commands.doctor import Finding, doctor, examine
from vnc.drivers import Choice


@pytest.mark.parametrize(("bad", "status"), [(False, 0), (True, 1)])
def test_advice_keeps_its_brackets(capsys, monkeypatch, bad, status):
    monkeypatch.setenv("COLUMNS", "200")
    findings = [Finding("docker[x]", "[red]not usable", "pip install '.[docker]' in [/dev]", bad=bad)]
    monkeypatch.setattr("universe_client.cli.commands.doctor.examine", lambda: iter(findings))
    assert doctor() == status
    told = capsys.readouterr().out
    assert "docker[x]" in told and "[red]not usable" in told and "pip install '.[docker]' in [/dev]" in told


class Record:
    """What pip has recorded of an installed package."""

    version = VERSION

    def __init__(self, text: str | None) -> None:
        self.text = text

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return self.text


@pytest.mark.parametrize(
    ("record", "origin"),
    [
        (
            '{"url": "file:///home/me/my%20checkout", "dir_info": {"editable": true}}',
            "'/home/me/my checkout'",
        ),
        (
            '{"url": "https://host/universe_client.tar.gz", "archive_info": {}}',
            "https://host/universe_client.tar.gz",
        ),
        (None, f"universe-client=={VERSION}"),
    ],
)
def test_the_portable_driver_comes_with_the_command_for_the_native_one(monkeypatch, record, origin):
    monkeypatch.setattr(
        "universe_client.cli.commands.doctor.choose", lambda driver: Choice("portable", "no _core")
    )
    monkeypatch.setattr("importlib.metadata.distribution", lambda name: Record(record))
    monkeypatch.setattr("shutil.which", lambda name: None)
    finding = next(found for found in examine() if found.what == "vnc driver")
    assert finding.lacking
    assert finding.advice.endswith(
        "or Rust (https://rustup.rs), then: "
        f"UNIVERSE_CLIENT_NATIVE=required pip install --force-reinstall --no-deps {origin}"
    )
