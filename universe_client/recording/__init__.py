"""What happened in a run: recorded as events and videos, read again, and exported for learners."""
