"""A node dies while all play: `make cluster-test REPEATS=20` repeats it, and prints how long it took."""

from __future__ import annotations

import os
import time
from contextlib import suppress

import pytest

from tests.support.remotes.agent import one_step, running, steps, until_running
from tests.support.remotes.counting import shown
from universe_client import VectorEnv
from universe_client.providers.ray import system

N = int(os.environ.get("CLUSTER_REMOTES", "16"))
REPEATS = int(os.environ.get("CLUSTER_REPEATS", "2"))
COUNTING = "gym-core.tests.support.remotes.counting:Counting"
LONG = 240.0
MOST_UNSEEN = 40  # steps that an agent may be told of between two frames: 2 s
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(900 + 120 * REPEATS)]


class Books:
    """What the agent was told about each remote since its episode began."""

    def __init__(self) -> None:
        self.paid = [0.0] * N
        self.shown = [0] * N
        self.ends = [0] * N
        self.frames = [0] * N
        self.cut: dict[int, tuple[float, int]] = {}

    def add(self, step):
        for i in range(N):
            self.paid[i] += step.reward_n[i]
            self.frames[i] += step.info_n[i]["stats.vnc.updates.n"]
            if step.done_n[i]:
                self.ends[i] += 1
                self.cut[i] = self.paid[i], self.shown[i]
                self.paid[i] = self.shown[i] = 0
            elif step.observation_n[i] is not None:
                self.shown[i] = shown(step.observation_n[i]["vision"])


def lost_with(env, node):
    """Return the indexes of the remotes on a node."""
    actors = []
    for _, handle in system.named(f"universe-client-{env.provider.session}-"):
        with suppress(system.ActorLost):  # one that was replaced may still have its name
            actors.append(system.get(handle.describe.remote(), LONG))
    return sorted(index for actor in actors if actor.node == node.node_id for index in actor.plan.indexes)


def play(env, books, seconds):
    """Play for some seconds; return the frames per second of each remote."""
    before, began = list(books.frames), time.monotonic()
    while time.monotonic() - began < seconds:
        books.add(one_step(env))
        env.wait(0.05)
    took = time.monotonic() - began
    return [(now - then) / took for now, then in zip(books.frames, before, strict=True)]


@pytest.fixture(scope="module")
def env(nodes):
    began = time.monotonic()
    with VectorEnv(COUNTING, f"ray:{N}", start_timeout=LONG, reset_timeout=LONG) as env:
        env.reset()
        until_running(env, LONG)
        print(f"{N} remotes run after {time.monotonic() - began:.1f} s")
        yield env


@pytest.mark.parametrize("repeat", range(REPEATS))
def test_only_its_remotes_are_cut_once_and_come_back(nodes, env, repeat):
    until_running(env, LONG)
    node = max(nodes.living, key=lambda node: len(lost_with(env, node)))
    lost = lost_with(env, node)
    others = [i for i in range(N) if i not in lost]
    addresses = [remote.link.address for remote in env.remotes]
    assert lost and others
    books = Books()
    while any(books.ends[i] == 0 and books.shown[i] == 0 for i in range(N)):
        books.add(one_step(env))  # from the first frame on, `paid` and `shown` count the same steps
        env.wait(0.05)
    unseen = [books.paid[i] - books.shown[i] for i in range(N)]
    usual = play(env, books, 5.0)

    frames, began = list(books.frames), time.monotonic()
    nodes.replace(node)
    there = time.monotonic()
    for step in steps(env, LONG):
        books.add(step)
        if all(books.ends[i] for i in lost) and running(step):
            break
    back, took = time.monotonic() - there, time.monotonic() - began
    meanwhile = [(books.frames[i] - frames[i]) / took for i in range(N)]

    assert [books.ends[i] for i in lost] == [1] * len(lost), "each ends once"
    assert [books.ends[i] for i in others] == [0] * len(others), "the others do not notice"
    for i in lost:
        paid, seen = books.cut[i]
        assert -1 <= paid - unseen[i] - seen <= MOST_UNSEEN, f"remote {i} paid {paid} for {seen} steps"
    now = [remote.link.address for remote in env.remotes]
    assert [i for i in range(N) if now[i] != addresses[i]] == lost
    kept = sorted(meanwhile[i] / usual[i] for i in others)
    assert kept[0] > 0.5  # 0.95 on a machine that does nothing else
    print(
        f"{len(lost)} lost, back {back:.1f} s after the new node; the others keep {kept[0]:.2f} of their frames"
    )
