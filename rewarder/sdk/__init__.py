"""The SDK for remotes: the base class of environments, and the functions that serve them."""
