"""What the author of a remote writes, and what plays it."""
