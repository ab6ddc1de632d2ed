"""The VNC servers that clients are measured against: Xvnc, replays of recorded streams, slow links."""
