"""The rewarder: its protocol, both ends of a connection, and everything on the remote's side."""
