"""The rows of a vector environment: the calls that wait for them, and the arrays that they fill."""
