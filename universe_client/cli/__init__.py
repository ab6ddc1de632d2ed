"""The `universe-client` command: its entry point, and what several subcommands use."""
