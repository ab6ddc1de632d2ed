"""A test with lerobot, which needs its own environment (`make test-lerobot`); without it pytest skips the test."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("lerobot") else ["test_*.py"]
