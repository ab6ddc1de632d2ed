"""Benchmarks of remotes in containers: what they cost, and whether they last. They need a Docker daemon."""
