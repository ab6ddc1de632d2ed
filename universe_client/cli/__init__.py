"""The `universe-client` command: one file per subcommand."""
