"""The one thread with an event loop that all remotes of an environment share, and what other threads may ask of it."""
