"""What can be reached from outside the cluster."""

from typing import Any

from tests.policies.objects import UNKNOWN, Breaks, Passes, Resource, Unknowns

INTERNAL = {"service.beta.kubernetes.io/aws-load-balancer-scheme": "internal"}


def service(kind: Any, annotations: Any = None, **spec: Any) -> Resource:
    metadata = {"name": "it", "annotations": annotations}
    return Resource("kubernetes:core/v1:Service", {"metadata": metadata, "spec": {"type": kind, **spec}})


def ray(kind: str, key: str, head: Any) -> Resource:
    cluster = {"headGroupSpec": head, "workerGroupSpecs": []}
    return Resource(f"kubernetes:ray.io/v1:{kind}", {"spec": {key: cluster} if key else cluster})


BREAKS: Breaks = {
    "public-services": [
        (service("NodePort"), "spec.type: opens a port on every node"),
        (service("LoadBalancer"), "spec.type: is a load balancer"),
        (service("LoadBalancer", loadBalancerSourceRanges=["10.0.0.0/8", "0.0.0.0/0"]), "spec.type"),
        (service("LoadBalancer", INTERNAL | {next(iter(INTERNAL)): "internet-facing"}), "spec.type"),
        (ray("RayCluster", "", {"serviceType": "NodePort"}), "spec.headGroupSpec.serviceType: opens a port"),
        (ray("RayJob", "rayClusterSpec", {"serviceType": "LoadBalancer"}), "spec.rayClusterSpec.headGroupSpec"),
        (
            ray("RayService", "rayClusterConfig", {"headService": {"spec": {"type": "LoadBalancer"}}}),
            "spec.rayClusterConfig.headGroupSpec.headService.spec.type",
        ),
        (
            Resource("kubernetes:ray.io/v1:RayService", {"spec": {"serveService": {"spec": {"type": "NodePort"}}}}),
            "spec.serveService.spec.type",
        ),
    ],
}

PASSES: Passes = {
    "public-services": [
        service("ClusterIP"),
        service(None),
        service("LoadBalancer", INTERNAL),
        service("LoadBalancer", {"networking.gke.io/load-balancer-type": "Internal"}),
        service("LoadBalancer", loadBalancerSourceRanges=["10.0.0.0/8"]),
        ray("RayCluster", "", {"serviceType": "ClusterIP"}),
        ray("RayCluster", "", {}),
    ],
}

UNKNOWNS: Unknowns = {
    "public-services": [
        (service(UNKNOWN), "spec.type"),
        (service("LoadBalancer", UNKNOWN), "metadata.annotations"),
        (service("LoadBalancer", loadBalancerSourceRanges=[UNKNOWN]), "spec.loadBalancerSourceRanges[0]"),
        (ray("RayCluster", "", {"serviceType": UNKNOWN}), "spec.headGroupSpec.serviceType"),
    ],
}
