"""Tests on a Ray cluster of this machine's processes (`make cluster-test`); without Ray pytest skips them."""

from __future__ import annotations

import logging
import os
from importlib.util import find_spec

import pytest

# For a machine that does something else too: with Ray's own niceness, 15, the actors starve, and a node may take longer
# to start than Ray's 30 s.
os.environ |= {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",
    "RAY_raylet_start_wait_time_s": "300",
}
collect_ignore_glob = [] if find_spec("ray") else ["test_*.py"]


@pytest.fixture(scope="session")
def nodes():
    import ray

    from tests.support.remotes.cluster import Nodes

    nodes = Nodes(3)
    os.environ["RAY_ADDRESS"] = nodes.address
    ray.init(address=nodes.address, log_to_driver=False, logging_level=logging.ERROR)
    yield nodes
    nodes.close()
    del os.environ["RAY_ADDRESS"]
