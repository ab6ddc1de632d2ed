"""The page that shows a remote in a browser, and its bridge to the VNC server."""
