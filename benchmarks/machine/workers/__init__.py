"""What one side of a row runs, in a process of its own with that side's package."""
