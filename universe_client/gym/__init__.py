"""Gymnasium's faces over the core: one dense array per batch, and one remote as a single environment."""
