"""Desktop tasks as remotes: programs under a window manager."""
