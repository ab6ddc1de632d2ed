"""The client side of VNC: the native and the portable driver, and the handshake that they need."""
