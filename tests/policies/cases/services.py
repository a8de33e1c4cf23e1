"""What can be reached from outside the cluster."""

from typing import Any

from tests.policies.objects import UNKNOWN, Breaks, Passes, Resource, Unknowns, document, platform

INTERNAL = {"service.beta.kubernetes.io/aws-load-balancer-scheme": "internal"}


def service(kind: Any, annotations: Any = None, namespace: Any = None, **spec: Any) -> Resource:
    metadata = {"name": "it", "namespace": namespace, "annotations": annotations}
    return Resource("kubernetes:core/v1:Service", {"metadata": metadata, "spec": {"type": kind, **spec}})


def ray(kind: str, key: str, head: Any, of_job: Any = None) -> Resource:
    cluster = {"headGroupSpec": head, "workerGroupSpecs": []}
    if of_job is not None:
        cluster = {"rayClusterSpec": {"headGroupSpec": of_job, "workerGroupSpecs": []}}
    return Resource(f"kubernetes:ray.io/v1:{kind}", {"spec": {key: cluster} if key else cluster})


def of_version(version: str, resource: Resource) -> Resource:
    return Resource(resource.type.replace("/v1:", f"/{version}:"), resource.inputs)


def annotated(cluster: Resource) -> Resource:
    """Give a cluster whose head's service is internal, in KubeRay's own field for that."""
    return Resource(cluster.type, {"spec": cluster.inputs["spec"] | {"headServiceAnnotations": INTERNAL}})


NLB = "service.beta.kubernetes.io/aws-load-balancer-type"
GATEWAY = platform(
    document("twin") | {"policies": {"options": {"public-services": {"services": ["ingress-nginx/*", "default/it"]}}}}
)


def listed(*services: Resource) -> Resource:
    return Resource("kubernetes:core/v1:ServiceList", {"items": [each.inputs for each in services]})


BREAKS: Breaks = {
    "public-services": [
        (service("LoadBalancer", loadBalancerSourceRanges=["0.0.0.0/1", "128.0.0.0/1"]), "spec.type"),
        (service("LoadBalancer", {NLB: "nlb"}), "spec.type"),
        (service("LoadBalancer", {NLB: "external", next(iter(INTERNAL)): "internet-facing"}), "spec.type"),
        (service("ClusterIP", externalIPs=["203.0.113.7"]), "spec.externalIPs: nodes take what comes"),
        (listed(service("ClusterIP"), service("LoadBalancer")), "items[1].spec.type"),
        ([GATEWAY, service("LoadBalancer", namespace="research")], "spec.type"),
        (ray("RayCronJob", "jobTemplate", {}, {"serviceType": "NodePort"}), "spec.jobTemplate.rayClusterSpec"),
        (of_version("v1alpha1", ray("RayCluster", "", {"serviceType": "LoadBalancer"})), "headGroupSpec.serviceType"),
        (ray("RayCluster", "", {"enableIngress": True}), "spec.headGroupSpec.enableIngress: makes an ingress"),
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
    "node-ports": [
        (service("NodePort"), "spec.type: opens a port on every node"),
        (listed(service("ClusterIP"), service("NodePort")), "items[1].spec.type"),
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
        ray("RayCluster", "", {"enableIngress": False}),
        annotated(ray("RayCluster", "", {"serviceType": "LoadBalancer"})),
        ray("RayCluster", "", {"headService": {"metadata": {"annotations": INTERNAL}}, "serviceType": "LoadBalancer"}),
        service("NodePort"),
        service("LoadBalancer", {NLB: "external"}),
        service("LoadBalancer", loadBalancerClass="eks.amazonaws.com/nlb"),
        [GATEWAY, service("LoadBalancer", namespace="ingress-nginx")],
        [GATEWAY, service("LoadBalancer", externalIPs=["203.0.113.7"])],
    ],
    "node-ports": [service("ClusterIP"), service("LoadBalancer"), service(None)],
}

UNKNOWNS: Unknowns = {
    "public-services": [
        (service(UNKNOWN), "spec.type"),
        (service("LoadBalancer", UNKNOWN), "metadata.annotations"),
        (service("LoadBalancer", loadBalancerSourceRanges=[UNKNOWN]), "spec.loadBalancerSourceRanges[0]"),
        (ray("RayCluster", "", {"serviceType": UNKNOWN}), "spec.headGroupSpec.serviceType"),
        (ray("RayCluster", "", {"enableIngress": UNKNOWN}), "spec.headGroupSpec.enableIngress"),
    ],
    "node-ports": [(service(UNKNOWN), "spec.type")],
}
