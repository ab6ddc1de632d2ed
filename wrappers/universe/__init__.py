"""Wrappers around `universe_client.VectorEnv`, Universe's face."""
