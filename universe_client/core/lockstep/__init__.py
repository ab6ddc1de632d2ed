"""Remotes that advance only when the agent steps: over the rewarder, or over a step channel of the same host."""
