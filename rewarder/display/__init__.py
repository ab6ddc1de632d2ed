"""A remote's own X display, the programs on it, and the removal of both."""
