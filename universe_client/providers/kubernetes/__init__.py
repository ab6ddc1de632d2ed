"""Remotes in a Kubernetes cluster, claimed from agent-sandbox or from Agones. Not yet tried on a real cluster."""

from universe_client.providers.kubernetes.agones import AgonesProvider
from universe_client.providers.kubernetes.cluster import Access
from universe_client.providers.kubernetes.sandbox import SandboxProvider

__all__ = ["Access", "AgonesProvider", "SandboxProvider"]
