"""Command-line options shared by `universe-client serve` and the entrypoint of containers."""
