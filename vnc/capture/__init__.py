"""The wire of a VNC session: recorded to a file, scanned, and replayed from it."""
