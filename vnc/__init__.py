"""VNC: sessions with real VNC servers, and a small server of our own."""
