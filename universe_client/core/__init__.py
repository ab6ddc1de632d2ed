"""One remote kept alive: its VNC session, its rewarder connection, and what each step reports of it."""
