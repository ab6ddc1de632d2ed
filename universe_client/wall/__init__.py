"""A page that shows all remotes of an agent: what it sees, what it presses, and how well it does."""
