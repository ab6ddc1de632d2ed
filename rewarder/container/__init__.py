"""A container's first process: it closes the network, then starts the judge and the player as two users.

The *judge* (uid 1000) is the rewarder with its VNC server: it holds the password and decides on rewards. The *player*
(uid 1001) is every program that an agent acts on: terminal, editor, browser, window manager. The player can neither
signal, trace nor read the judge.

The container starts as root with the capabilities SETUID, SETGID, SETPCAP and NET_ADMIN. `__main__` uses them at the
start and then gives them up for good: the process becomes the player, and waits in `spawner` for the judge to ask for
programs. No process of a running remote is root or has a capability.
"""
