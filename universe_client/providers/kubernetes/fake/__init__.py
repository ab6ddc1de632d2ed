"""A stand-in for a Kubernetes cluster with agent-sandbox and Agones, for tests of the providers."""

from universe_client.providers.kubernetes.fake.cluster import FakeCluster
from universe_client.providers.kubernetes.fake.controllers import Pod

__all__ = ["FakeCluster", "Pod"]
