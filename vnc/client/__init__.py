"""The drivers that hold a session with a VNC server, native and portable."""
