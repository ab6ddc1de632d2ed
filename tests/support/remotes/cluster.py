"""A Ray cluster whose nodes are processes of this machine."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import ray
from ray.cluster_utils import Cluster

PROCESSORS = 4  # Ray starts as many processes in advance
SMALL = {"object_store_memory": 80_000_000, "include_dashboard": False}


class Nodes:
    """A head with the resource "head" and no processors, and nodes with `PROCESSORS` each."""

    def __init__(self, count: int) -> None:
        self.cluster = Cluster(
            initialize_head=True, head_node_args={"num_cpus": 0, "resources": {"head": 100}, **SMALL}
        )
        self.living = [self.add() for _ in range(count)]
        self.address = self.cluster.address

    def add(self, **resources):
        """Start a node and return it once the cluster knows it."""
        return self.cluster.add_node(**({"num_cpus": PROCESSORS} | SMALL | resources))

    def replace(self, node):
        """Kill a node, as a loss of power would, and start another."""
        self.living.remove(node)
        self.cluster.remove_node(node, allow_graceful=False)
        self.living.append(self.add())

    def node(self, node_id):
        """Return the living node with this id."""
        return next(node for node in self.living if node.node_id == node_id)

    def close(self) -> None:
        ray.shutdown()
        self.cluster.shutdown()


def processes(mark):
    """Return the command lines, by process id, of living processes of this network namespace that contain `mark`."""
    ours = os.readlink("/proc/self/ns/net")
    found = {}
    for process in Path("/proc").iterdir():
        with contextlib.suppress(
            OSError, ValueError
        ):  # not a process, it has ended, or belongs to another user
            pid, line = int(process.name), (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            zombie = (process / "stat").read_text().rpartition(")")[2].split()[0] in "ZX"
            if mark in line and os.readlink(process / "ns" / "net") == ours and not zombie:
                found[pid] = line
    return found
