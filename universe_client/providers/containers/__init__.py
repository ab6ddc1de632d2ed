"""Remotes in containers: images, the engine that runs them, and the removal of what nobody owns."""
