"""Laws about what can be reached from outside the cluster."""

from model import networks
from policies.fields import Field
from policies.rules import Level, Option, Report, ResourceRule, Severity, rule
from policies.scopes import namespace, ray_clusters

_SERVICES = tuple(f"kubernetes:core/v1:Service{suffix}" for suffix in ("", "Patch", "List"))
_RAY = tuple(
    f"kubernetes:ray.io/{version}:{kind}"
    for version in ("v1", "v1alpha1")
    for kind in ("RayCluster", "RayJob", "RayService", "RayCronJob")
)
_INTERNAL = {
    # Annotations that keep a load balancer within the network, by their values. Sources: the controllers' own docs:
    # kubernetes-sigs.github.io/aws-load-balancer-controller, cloud.google.com/kubernetes-engine, learn.microsoft.com.
    "service.beta.kubernetes.io/aws-load-balancer-scheme": "internal",
    "service.beta.kubernetes.io/aws-load-balancer-internal": "true",
    "networking.gke.io/load-balancer-type": "internal",
    "service.beta.kubernetes.io/azure-load-balancer-internal": "true",
}
_TYPE = "service.beta.kubernetes.io/aws-load-balancer-type"
_SCHEME = "service.beta.kubernetes.io/aws-load-balancer-scheme"
_AWS_CLASSES = frozenset({"service.k8s.aws/nlb", "eks.amazonaws.com/nlb"})
_AWS_TYPES = frozenset({"external", "nlb-ip"})
"""How a service asks for a load balancer of a controller of AWS, which makes an internal one where no scheme is said
(https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/service/nlb/)."""


@rule(
    ResourceRule,
    types=(*_SERVICES, *_RAY),
    id="public-services",
    severity=Severity.CRITICAL,
    what="No load balancer is open to all but those of gateways that the environment names, and none leads to Ray.",
    why=(
        "Ray's dashboard and client run any code for whoever reaches them, and so do notebooks and most servers of "
        "models; none asks who it is. Open ports of them are found within hours."
    ),
    fix=(
        "Use `type: ClusterIP` behind a gateway that logs people in, and name the gateway in the option `services`; or "
        "`kubectl port-forward`. A load balancer for the own network carries the annotation that makes it internal, or "
        "`loadBalancerSourceRanges`."
    ),
    link="https://docs.ray.io/en/latest/ray-security/index.html",
    options={
        "services": Option(
            list, (), "Gateways that are meant to be reached, as `namespace/name`, with `*` for any text."
        )
    },
)
def public_services(it: Field, report: Report) -> None:
    """Judge services, and those that KubeRay is told to make. Of other ports of nodes `node-ports` speaks."""
    spec = it["spec"]
    with report.reading():
        if (
            spec["type"].text() == "LoadBalancer"
            and not _meant(it["metadata"], report)
            and _open(spec, it["metadata"]["annotations"])
        ):
            report.violation(spec["type"], "is a load balancer that is open to all")
    with report.reading():
        if spec["externalIPs"].items() and not _meant(it["metadata"], report):
            report.violation(spec["externalIPs"], "nodes take what comes to these addresses, whoever they belong to")
    with report.reading():
        for cluster in ray_clusters(it):
            _ray(cluster, report)
    serve = spec["serveService"]
    with report.reading():
        _opened(serve["spec"]["type"], serve["spec"], report, serve["metadata"]["annotations"])


def _ray(cluster: Field, report: Report) -> None:
    head = cluster["headGroupSpec"]
    service = head["headService"]
    for kind in (head["serviceType"], service["spec"]["type"]):
        with report.reading():
            _opened(
                kind, service["spec"], report, service["metadata"]["annotations"], cluster["headServiceAnnotations"]
            )
    with report.reading():
        if head["enableIngress"].boolean():
            report.violation(head["enableIngress"], "makes an ingress to the dashboard")


def _opened(kind: Field, spec: Field, report: Report, *annotations: Field) -> None:
    chosen = kind.text()
    if chosen == "NodePort":
        report.violation(kind, "opens a port on every node")
    elif chosen == "LoadBalancer" and _open(spec, *annotations):
        report.violation(kind, "is a load balancer that is open to all")


@rule(
    ResourceRule,
    types=_SERVICES,
    id="node-ports",
    severity=Severity.MEDIUM,
    # Without a cloud they may be the only way in.
    level=Level.ADVISORY,
    what="Services open no ports on nodes.",
    why=(
        "A `NodePort` is open on each node, past what a load balancer would let through: whoever reaches the nodes "
        "reaches the service."
    ),
    fix="Use `type: ClusterIP` behind a gateway, or a load balancer.",
    link="https://kubernetes.io/docs/concepts/services-networking/service/#type-nodeport",
)
def node_ports(it: Field, report: Report) -> None:
    """Judge the type of a service."""
    kind = it["spec"]["type"]
    if kind.text() == "NodePort":
        report.violation(kind, "opens a port on every node")


def _meant(metadata: Field, report: Report) -> bool:
    # Its name is read only if some have names.
    return bool(report.options["services"]) and report.listed(
        "services", f"{namespace(metadata)}/{metadata['name'].text() or ''}"
    )


def _open(spec: Field, *annotations: Field) -> bool:
    """Whether a load balancer of these annotations, wherever they stand, is for everybody."""
    said = {key: each.text() or "" for found in annotations for key, each in found.members().items()}
    if any(said.get(key, "").lower() == value for key, value in _INTERNAL.items()):
        return False
    by_aws = spec["loadBalancerClass"].text() in _AWS_CLASSES or said.get(_TYPE) in _AWS_TYPES
    return not (by_aws and _SCHEME not in said) and not _narrow(spec)


def _narrow(spec: Field) -> bool:
    ranges = [each.text() or "" for each in spec["loadBalancerSourceRanges"].items()]
    return bool(ranges) and not any(map(_wide, ranges))


def _wide(text: str) -> bool:
    try:
        return networks.wide(text.strip())
    except ValueError:
        return False  # the API server refuses it


RULES = (public_services, node_ports)
