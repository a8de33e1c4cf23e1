"""The one place where Kubernetes providers are made."""

import pulumi
import pulumi_kubernetes as kubernetes

from model.cluster import Cluster


def provider(
    name: str,
    cluster: Cluster,
    *,
    kubeconfig: pulumi.Output[str] | None = None,
    adopt: bool = False,
    opts: pulumi.ResourceOptions | None = None,
) -> kubernetes.Provider:
    """Make the provider of a cluster.

    Every resource gets it explicitly: stacks disable default providers, because a resource that slips through would
    be made in whatever cluster the caller's kubeconfig points to.

    Args:
        name: Logical name.
        cluster: The cluster; its `context` is looked up in the kubeconfig of whoever runs the program.
        kubeconfig: How a cluster is reached that the same run makes; None for one that is there already.
        adopt: Whether objects that exist already are taken over, which is right only for what a `destroy` leaves
            behind on purpose and the next `up` must own again. Everywhere else it would let a rename destroy a live
            object: the new name would take it over, the old name delete it.
        opts: Options, such as the parent.
    """
    return kubernetes.Provider(
        name,
        # Without an identifier the provider guesses from the kubeconfig, and an edit there may replace everything.
        cluster_identifier=cluster.name,
        context=cluster.context,
        # Empty, not left out: the SDK would write the caller's KUBECONFIG path into the state. The provider looks
        # it up by itself.
        kubeconfig="" if kubeconfig is None else kubeconfig,
        # Definitions such as KubeRay's are too large for the annotation of client-side apply.
        enable_server_side_apply=True,
        upsert_existing_objects=True if adopt else None,
        opts=opts,
    )
