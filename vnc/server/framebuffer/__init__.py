"""The framebuffer of a server: its buffers, which areas of it have changed, and copies of other screens."""
