"""The loop that plays an environment: its ticks at their times, and the requests and input in between."""
