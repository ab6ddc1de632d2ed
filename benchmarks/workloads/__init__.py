"""Programs that keep an X screen of 1024x768 busy: `python -m benchmarks.workloads NAME`."""
