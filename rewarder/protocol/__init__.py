"""The rewarder protocol without I/O: messages, both ends' sessions, and the buffer that sums rewards."""
