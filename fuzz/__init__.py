"""Hostile bytes for every parser of what a peer sends: `make fuzz`; see fuzz/README.md."""
