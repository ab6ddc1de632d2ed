"""Interfaces of other libraries. Each module needs its library, so nothing else in the package imports it."""
