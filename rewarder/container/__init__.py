"""A container's first process: it closes the network and runs the judge and the player as two users.

The *judge* (uid 1000) is the rewarder with its VNC server: it holds the password and computes the rewards. The *player*
(uid 1001) is every program that an agent acts on: terminal, editor, browser, window manager. The player cannot signal,
trace or read the judge.

The container starts as root with the capabilities SETUID, SETGID, SETPCAP and NET_ADMIN. `__main__` uses them at the
start and then drops them for good: the process becomes the player, and `spawner` starts programs when the judge asks
for them. No process of a running remote is root or has a capability.
"""
