"""A short run of `make chaos`, with fewer remotes (F36), and its files."""

from __future__ import annotations

import os
import random

import pytest

from tests.chaos import ledger
from tests.chaos.fleet import ROOT
from tests.chaos.ledger import Life
from tests.chaos.remote import LEDGER
from tests.chaos.run import chaos
from tests.support.system.processes import start_ticks

SECONDS = 30.0


def test_a_process_id_that_is_used_again_is_another_life(tmp_path, monkeypatch):
    before = Life.of(tmp_path, os.getpid())
    before.write(3)
    monkeypatch.setattr(ledger, "start_ticks", lambda pid: start_ticks(pid) + 1)
    after = Life.of(tmp_path, os.getpid())
    assert after.pid == before.pid == os.getpid()
    assert (before.written(3), after.written(3)) == (1, 0)


@pytest.mark.fault("F36", "24 h soak, 16 remotes, one random fault each minute")
@pytest.mark.timeout(300)
def test_f36_faults_at_random_lose_and_double_nothing(driver, tmp_path, monkeypatch, measure):
    monkeypatch.setenv(LEDGER, str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])))
    seed = random.SystemRandom().randrange(1_000_000)
    print(f"seed {seed}")
    outcome = chaos(SECONDS, seed, tmp_path, embedded=5, displays=1, driver=driver)
    print(*outcome.books.examples, *outcome.stuck, sep="\n")
    measure("faults", sum(outcome.faults.values()), at_least=SECONDS / 2)
    measure("rewards", outcome.books.rewards, at_least=100)
    measure("violations", sum(outcome.books.breaches.values()), equals=0)
    measure("remotes that did not come back", len(outcome.stuck), equals=0)
    measure("uptime outside faults", 100 * outcome.uptime, at_least=99, unit="%")
    measure("descriptors left", outcome.after.descriptors - outcome.before.descriptors, at_most=0)
    measure("threads left", outcome.after.threads - outcome.before.threads, at_most=0)
