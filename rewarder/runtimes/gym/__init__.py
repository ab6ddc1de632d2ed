"""Gymnasium environments as remotes."""
