"""`python -m benchmarks scale`: replayed remotes that an environment plays, and what the tables make of its figures."""

from __future__ import annotations

import pytest

from benchmarks import scale
from benchmarks.clients.crowd import Crowd, play


def test_an_agent_answers_replayed_remotes() -> None:
    with scale._remotes(scale.SMALL, list(scale._sprites()), 8, 100.0) as address:
        crowd = play(address, scale.SMALL, "whole", 4, 5.0)
    assert crowd.steps > 0
    assert 1 <= crowd.batch <= 4
    assert crowd.files >= 2
    assert crowd.cpu > 0


def test_the_tables_divide_what_there_is_by_what_a_remote_needs() -> None:
    crowd = Crowd(steps=118.0, slowest=14.0, batch=2.0, cpu=1e-4, memory=5e6, files=2.0, start=0.5)
    assert scale._row(8, [crowd])[1:7] == ["118", "98 %", "14.0", "2.0", "100", "1 %"]
    assert "8 remotes had at least 95 %" in scale._summary({8: crowd, 16: crowd})
    memory, files, core = scale._ends(crowd).rows
    assert memory[1] == "5.0 MB"
    assert int(files[3]) == pytest.approx(int(files[2].split()[0]) / 2, abs=1)
    assert core[1:] == ["0.15 % at 15 steps/s", "100 %", "667"]
