"""The remotes as environments of Gymnasium: one vector environment, and one environment of a single remote."""
