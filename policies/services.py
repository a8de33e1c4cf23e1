"""Laws about what can be reached from outside the cluster."""

from collections.abc import Iterator

from policies.fields import Field
from policies.rules import Report, ResourceRule, Severity, rule

_SERVICES = ("kubernetes:core/v1:Service", "kubernetes:core/v1:ServicePatch")
_RAY = tuple(f"kubernetes:ray.io/v1:{kind}" for kind in ("RayCluster", "RayJob", "RayService"))
_INTERNAL = {
    # Annotations that keep a load balancer within the network, by their values. Sources: the controllers' own docs:
    # kubernetes-sigs.github.io/aws-load-balancer-controller, cloud.google.com/kubernetes-engine, learn.microsoft.com.
    "service.beta.kubernetes.io/aws-load-balancer-scheme": "internal",
    "service.beta.kubernetes.io/aws-load-balancer-internal": "true",
    "networking.gke.io/load-balancer-type": "internal",
    "service.beta.kubernetes.io/azure-load-balancer-internal": "true",
}
_ANYWHERE = frozenset({"0.0.0.0/0", "::/0"})


@rule(
    ResourceRule,
    types=(*_SERVICES, *_RAY),
    id="public-services",
    severity=Severity.CRITICAL,
    what="Nothing is reachable from outside the cluster by a port of nodes or a load balancer that is open to all.",
    why=(
        "Ray's dashboard and client run any code for whoever reaches them, and so do notebooks and most servers of "
        "models; none asks who it is. Open ports of them are found within hours."
    ),
    fix=(
        "Use `type: ClusterIP` behind a gateway that logs people in, or `kubectl port-forward`. A load balancer for "
        "the own network carries the annotation that makes it internal, or `loadBalancerSourceRanges`."
    ),
    link="https://docs.ray.io/en/latest/ray-security/index.html",
)
def public_services(it: Field, report: Report) -> None:
    """Judge services, and those that KubeRay is told to make."""
    for metadata, spec, kind in _services(it):
        with report.reading():
            chosen = kind.text()
            if chosen == "NodePort":
                report.violation(kind, "opens a port on every node")
            elif chosen == "LoadBalancer" and not _internal(metadata) and not _narrow(spec):
                report.violation(kind, "is a load balancer that is open to all")


def _services(it: Field) -> Iterator[tuple[Field, Field, Field]]:
    """Metadata, specification and type of each service: of the object itself, or of what Ray's objects describe."""
    spec = it["spec"]
    yield it["metadata"], spec, spec["type"]
    for cluster in (spec, spec["rayClusterSpec"], spec["rayClusterConfig"]):
        head = cluster["headGroupSpec"]
        yield head["headService"]["metadata"], head["headService"]["spec"], head["serviceType"]
        yield head["headService"]["metadata"], head["headService"]["spec"], head["headService"]["spec"]["type"]
    yield spec["serveService"]["metadata"], spec["serveService"]["spec"], spec["serveService"]["spec"]["type"]


def _internal(metadata: Field) -> bool:
    annotations = metadata["annotations"]
    return any((annotations[key].text() or "").lower() == value for key, value in _INTERNAL.items())


def _narrow(spec: Field) -> bool:
    ranges = [each.text() for each in spec["loadBalancerSourceRanges"].items()]
    return bool(ranges) and not _ANYWHERE & {each or "" for each in ranges}


RULES = (public_services,)
