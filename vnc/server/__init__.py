"""The server side of VNC: a small server for programs that draw into a numpy array."""
