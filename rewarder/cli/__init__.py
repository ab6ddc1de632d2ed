"""The options that both command lines share when they serve a remote."""
