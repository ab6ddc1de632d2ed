"""Web pages as remotes, in Chromium."""
