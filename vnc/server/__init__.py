"""A small VNC server over a numpy framebuffer, for remotes that draw their own pixels."""
