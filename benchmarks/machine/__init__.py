"""The whole machine, of an earlier commit and of now: CPU time and memory of all processes, rates and latencies."""
