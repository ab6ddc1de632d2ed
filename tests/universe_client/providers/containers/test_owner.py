"""Owners of containers: alive, dead, somebody else's - never guessed."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from universe_client.providers.containers.owner import PREFIX, SESSION, Owner


@pytest.fixture
def child():
    """A process that runs until its stdin is closed."""
    script = (
        "import sys\nfrom universe_client.providers.containers.owner import Owner\n"
        "owner = Owner.here()\nprint(owner.pid, owner.started, flush=True)\nsys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        yield process
        process.kill()


def owner_of(child):
    pid, started = child.stdout.readline().split()
    return replace(Owner.here(), pid=int(pid), started=started)


def test_this_process_is_alive():
    assert Owner.here().is_local
    assert not Owner.here().has_ended


def test_labels_bring_the_owner_back():
    owner = Owner.here()
    assert Owner.of({SESSION: "abc"} | owner.labels) == owner


@pytest.mark.parametrize("labels", [{}, {"a": "b"}, {SESSION: "abc"}, {SESSION: "a", PREFIX + "pid": "x"}])
def test_labels_of_others_have_no_owner(labels):
    assert Owner.of(labels) is None


def test_a_label_without_our_session_has_no_owner():
    assert Owner.of(Owner.here().labels) is None


@given(st.dictionaries(st.sampled_from([SESSION, *Owner.here().labels]), st.text(max_size=9)))
def test_nothing_with_strange_labels_is_taken_for_ours(labels):
    owner = Owner.of(labels)
    assert owner is None or not owner.has_ended or owner.is_local


def test_a_killed_process_is_dead_even_before_its_parent_waits_for_it(child):
    owner = owner_of(child)
    assert not owner.has_ended
    child.kill()
    child.stdout.read()  # the end of its output: it is gone, but for its entry
    child.wait()
    assert owner.has_ended


def test_a_zombie_is_dead(child):
    owner = owner_of(child)
    child.stdin.close()
    import os

    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # ended, its entry still there
    assert owner.has_ended


def test_another_process_with_its_number_is_not_the_owner():
    assert replace(Owner.here(), started="1").has_ended


def test_an_earlier_boot_has_no_living_processes():
    assert replace(Owner.here(), boot="an earlier one").has_ended


@pytest.mark.parametrize("change", [{"machine": "elsewhere"}, {"user": "99999"}])
def test_of_other_machines_and_users_nobody_is_called_dead(change):
    owner = replace(Owner.here(), started="1", **change)
    assert not owner.is_local
    assert not owner.has_ended
