"""The VNC clients that are measured, each in a process of its own."""
