"""The remotes of an environment: connections kept alive, episodes kept apart, and what each step returns of them."""
