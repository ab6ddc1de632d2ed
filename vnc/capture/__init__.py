"""Captures of VNC sessions: recording to a file, parsing, and replay."""
