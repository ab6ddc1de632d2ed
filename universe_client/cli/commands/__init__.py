"""The subcommands of `universe-client`: one file each."""
