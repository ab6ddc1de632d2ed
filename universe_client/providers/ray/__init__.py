"""Remotes on the nodes of a Ray cluster (`ray:N`)."""
