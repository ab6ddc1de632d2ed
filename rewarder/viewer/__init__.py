"""The page on which people watch a remote in a browser, and its bridge to the VNC server."""
