"""NeonDrive, the built-in game."""
