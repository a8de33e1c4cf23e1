"""The cluster itself: where it is and which Kubernetes it speaks."""

from typing import Literal

from .base import Declared


class Cluster(Declared):
    """The Kubernetes cluster that an environment describes."""

    name: str
    """Short name, a DNS label. Stays the same for the life of the cluster."""
    provider: Literal["existing"]
    """`existing`: the cluster is there already and is reached through a kubeconfig context."""
    kubernetes: str
    """Minor version, as text: "1.35"."""
    context: str
    """The kubeconfig context. Written down so that an `up` can never meet another cluster by accident."""
