"""Benchmarks of the VNC drivers, on recorded streams and on a live Xvnc."""
