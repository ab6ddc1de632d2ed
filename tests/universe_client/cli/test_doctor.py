"""What `universe-client doctor` prints."""

from __future__ import annotations

import pytest

from universe_client.cli.doctor import Finding, doctor


@pytest.mark.parametrize(("bad", "status"), [(False, 0), (True, 1)])
def test_advice_keeps_its_brackets(capsys, monkeypatch, bad, status):
    monkeypatch.setenv("COLUMNS", "200")
    findings = [Finding("docker[x]", "[red]not usable", "pip install '.[docker]' in [/dev]", bad=bad)]
    monkeypatch.setattr("universe_client.cli.doctor.examine", lambda: iter(findings))
    assert doctor() == status
    told = capsys.readouterr().out
    assert "docker[x]" in told and "[red]not usable" in told and "pip install '.[docker]' in [/dev]" in told
