"""An X display of a remote's own, the programs on it, and their orderly end."""
