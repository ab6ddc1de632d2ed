"""Wrappers around `universe_client.GymVectorEnv`, Gymnasium's vector face."""
