"""Remotes in containers: the provider, its images, the Docker daemon, and the removal of orphaned containers."""
