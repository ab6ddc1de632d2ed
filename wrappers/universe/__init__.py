"""Wrappers around `universe_client.VectorEnv`, the environment with Universe's interface."""
