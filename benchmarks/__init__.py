"""Measurements of the package beside its alternatives: `python -m benchmarks`."""

BENCHMARKS = {
    "machine": "machine.suite",
    "latency": "environment.latency",
    "decode": "drivers.decode",
    "cluster": "environment.cluster",
    "codecs": "drivers.codecs",
    "displays": "environment.displays",
    "encodings": "drivers.encodings",
    "gil": "drivers.gil",
    "hands": "environment.hands",
    "lockstep": "environment.lockstep",
    "making": "environment.making",
    "many": "drivers.many",
    "mcp": "environment.mcp",
    "pixels": "environment.pixels",
    "pong": "environment.pong",
    "record": "environment.record",
    "scale": "scale",
    "shared": "drivers.shared",
    "steps": "environment.steps",
    "timed": "environment.timed",
    "tls": "drivers.tls",
    "wall": "environment.wall",
    "containers": "containers.cost",
    "soak": "containers.soak",
}
"""The module of each benchmark. Its docstring is the text above its tables; `measure(console, rounds)` runs it."""
