"""Wrappers around `universe_client.GymVectorEnv`, the environment with Gymnasium's vector interface."""
