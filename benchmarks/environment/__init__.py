"""Benchmarks of the environments and wrappers: what a step costs the agent."""
