"""The SDK for remotes: the base class of environments, and the loop that serves them."""
