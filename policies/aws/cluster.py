"""Laws about the control plane of EKS, and the logs that are kept of it."""

import re
from fnmatch import fnmatchcase

from policies.aws.reading import named, wide
from policies.fields import Field
from policies.rules import Level, Option, Report, Resource, ResourceRule, Severity, Stack, StackRule, rule

_CLUSTER = ("aws:eks/cluster:Cluster",)
_LOGS = ("audit", "authenticator")
_CONTROL_PLANE = re.compile(r"/aws/eks/.+/cluster")


@rule(
    ResourceRule,
    types=_CLUSTER,
    id="cluster-endpoint",
    severity=Severity.HIGH,
    what="The API of a cluster is reached from inside, and from outside by named networks at most.",
    why=(
        "A new cluster answers the whole internet: then one leaked token, or one flaw in the API server, is enough. "
        "Without the private end point nodes take the way over the internet, too."
    ),
    fix=(
        "Set `vpcConfig.endpointPrivateAccess`, and `endpointPublicAccess: false` or `publicAccessCidrs`; in the "
        "document that is `cluster.publicAccessCidrs`."
    ),
    link="https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html",
)
def cluster_endpoint(cluster: Field, report: Report) -> None:
    """Judge both end points; what is not written is AWS's default, which is public."""
    network = cluster["vpcConfig"]
    with report.reading():
        if not network["endpointPrivateAccess"].boolean():
            report.violation(network["endpointPrivateAccess"], "is not true")
    with report.reading():
        if network["endpointPublicAccess"].boolean() is False:
            return
        cidrs = network["publicAccessCidrs"].items()
        if not cidrs:
            report.violation(network["publicAccessCidrs"], "names no networks, so that everybody may come")
        for each in cidrs:
            with report.reading():
                if wide(each):
                    report.violation(each, f"{each} is the whole internet, or a large part of it")


@rule(
    ResourceRule,
    types=_CLUSTER,
    id="cluster-secrets",
    severity=Severity.HIGH,
    what="The Secrets of a cluster are encrypted under a key of your own.",
    why=(
        "Tokens for registries, object stores and trackers of experiments are Secrets. Under a key of your own each "
        "use is logged, and the key can be taken away; it cannot be added to a cluster twice."
    ),
    fix="Set `encryptionConfig` with the ARN of the key and `resources: [secrets]`.",
    link="https://docs.aws.amazon.com/eks/latest/userguide/enable-kms.html",
)
def cluster_secrets(cluster: Field, report: Report) -> None:
    """Judge what is encrypted; the key itself may be known only later."""
    encryption = cluster["encryptionConfig"]
    if "secrets" not in [each.text() for each in encryption["resources"].items()]:
        report.violation(encryption, "does not name secrets")
    elif (key := encryption.at("provider", "keyArn")).value is None:
        report.violation(key, "names no key")


@rule(
    ResourceRule,
    types=_CLUSTER,
    id="cluster-logs",
    severity=Severity.MEDIUM,
    what="A cluster logs who did what, and who came in.",
    why="After an incident nobody can say otherwise which token deleted the queue or read the Secret.",
    fix="Name `audit` and `authenticator` in `enabledClusterLogTypes`.",
    link="https://docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html",
    options={"logs": Option(list, _LOGS, "The logs that a cluster must write.")},
)
def cluster_logs(cluster: Field, report: Report) -> None:
    """Judge the kinds of logs."""
    written = cluster["enabledClusterLogTypes"]
    kinds = {each.text() for each in written.items()}
    if missing := [kind for kind in report.options["logs"] if kind not in kinds]:
        report.violation(written, f"lacks {' and '.join(missing)}")


@rule(
    ResourceRule,
    types=_CLUSTER,
    id="cluster-entry",
    severity=Severity.MEDIUM,
    what="Only access entries say who may enter a cluster.",
    why=(
        "The ConfigMap `aws-auth` can be written by everybody who may write ConfigMaps in `kube-system`, and one wrong "
        "indentation locks everybody out."
    ),
    fix="Set `accessConfig.authenticationMode: API`, and make an `AccessEntry` for each role.",
    link="https://docs.aws.amazon.com/eks/latest/userguide/grant-k8s-access.html",
)
def cluster_entry(cluster: Field, report: Report) -> None:
    """Judge the mode; what is not written is the ConfigMap."""
    mode = cluster.at("accessConfig", "authenticationMode")
    if mode.text() != "API":
        report.violation(mode, f"is {mode if mode.value is not None else 'not set, which means CONFIG_MAP'}")


@rule(
    ResourceRule,
    types=("aws:cloudwatch/logGroup:LogGroup",),
    id="log-retention",
    severity=Severity.LOW,
    level=Level.ADVISORY,
    what="Logs are kept for a time: those of a control plane long enough to look into an incident, and none for ever.",
    why="A group without a time keeps everything, and costs more each month. Incidents are found after weeks.",
    fix="Set `retentionInDays`.",
    link="https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/Working-with-log-groups-and-streams.html",
    options={"days": Option(int, 90, "Days for which the logs of a control plane are kept at least.")},
)
def log_retention(group: Field, report: Report) -> None:
    """Judge the time of a group; 0 and nothing both mean for ever."""
    kept = group["retentionInDays"]
    days = kept.whole()
    if not days:
        report.violation(kept, "is not set, which means for ever")
    elif days < report.options["days"] and _CONTROL_PLANE.fullmatch(group["name"].text() or ""):
        report.violation(kept, f"is {days}, and logs of a control plane are kept {report.options['days']} at least")


@rule(
    StackRule,
    id="cluster-administrators",
    severity=Severity.CRITICAL,
    what="Who administers a cluster is named in the document, and nobody else does.",
    why=(
        "An association with `AmazonEKSClusterAdminPolicy` is everything, everywhere in the cluster: each team's "
        "secrets, each queue, each fence. In a program it is one line among hundreds."
    ),
    fix=(
        "Name the principal under `cluster.access` with `policy: cluster-admin`, or in the option `principals`; for a "
        "namespace `AmazonEKSAdminPolicy` or `AmazonEKSEditPolicy` with `accessScope` will do."
    ),
    link="https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html",
    options={"principals": Option(list, (), "ARNs of roles and users that may administer clusters; `*` is any text.")},
)
def cluster_administrators(stack: Stack, report: Report) -> None:
    """Judge the associations with that policy for a whole cluster."""
    found = stack.of("aws:eks/accessPolicyAssociation:AccessPolicyAssociation")
    patterns = list(report.options["principals"]) + (_administrators(stack, report) if found else [])
    for each in found:
        with report.reading(each.urn):
            if not (each.inputs["policyArn"].text() or "").endswith("/AmazonEKSClusterAdminPolicy"):
                continue
            if each.inputs.at("accessScope", "type").text() == "namespace":
                continue
            principal = _principal(stack, each)
            arn = principal.text() or ""
            if not any(fnmatchcase(arn, pattern) for pattern in patterns):
                report.violation(each.inputs["principalArn"], f"{principal} administers the cluster", each.urn)


def _administrators(stack: Stack, report: Report) -> list[str]:
    found = list[str]()
    if stack.document is not None:
        with report.reading():
            for access in stack.document.at("cluster", "access").members().values():
                if access["policy"].text() == "cluster-admin":
                    found.append(access["principal"].text() or "")
    return found


def _principal(stack: Stack, association: Resource) -> Field:
    """Whom an association is for; the entry that it belongs to knows it before it is made."""
    entry = named(stack, association, ("principalArn",), ("aws:eks/accessEntry:AccessEntry",))
    return (entry or association).inputs["principalArn"]


RULES = (cluster_endpoint, cluster_secrets, cluster_logs, cluster_entry, cluster_administrators, log_retention)
