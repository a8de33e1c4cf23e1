"""Laws about who may do what in the cluster."""

from collections.abc import Iterator

from policies.fields import Field
from policies.pods import Pod
from policies.rules import Level, PodRule, Report, ResourceRule, Severity, rule
from policies.scopes import of_system

_API = "kubernetes:rbac.authorization.k8s.io/v1:"
_ROLES = tuple(f"{_API}{kind}{patch}" for kind in ("ClusterRole", "Role") for patch in ("", "Patch"))
_BINDINGS = tuple(f"{_API}{kind}{patch}" for kind in ("ClusterRoleBinding", "RoleBinding") for patch in ("", "Patch"))
_PRACTICES = "https://kubernetes.io/docs/concepts/security/rbac-good-practices/"
_EVERYBODY = frozenset({"system:anonymous", "system:unauthenticated", "system:authenticated", "system:serviceaccounts"})
_ALL = "*"
_READING = frozenset({"get", "list", "watch", _ALL})
_TAKING = frozenset({"escalate", "bind", "impersonate"})
_DOORS = {
    # Subresources, and the verbs by which one becomes somebody else.
    "pods/exec": ("create", "get"),
    "pods/attach": ("create", "get"),
    "serviceaccounts/token": ("create",),
    "nodes/proxy": ("create", "get", "update", "patch", "delete"),
}


@rule(
    ResourceRule,
    types=_BINDINGS,
    id="cluster-admin",
    severity=Severity.CRITICAL,
    what="Nobody is bound to `cluster-admin`.",
    why=(
        "It is everything, everywhere: who has it reads each team's secrets, changes each queue and removes each "
        "fence. A stolen token of such an account is the cluster."
    ),
    fix="Write a role with what is needed; for people in a namespace `admin` or `edit` is there.",
    link=_PRACTICES,
)
def cluster_admin(binding: Field, report: Report) -> None:
    """Judge the role of a binding, and the group that needs none."""
    with report.reading():
        name = binding.at("roleRef", "name")
        if name.text() == "cluster-admin":
            report.violation(name, "is everything in the cluster")
    with report.reading():
        for subject in binding["subjects"].items():
            with report.reading():
                if subject["name"].text() == "system:masters":
                    report.violation(subject["name"], "this group passes every check, whatever it is bound to")


@rule(
    ResourceRule,
    types=_BINDINGS,
    id="roles-of-everybody",
    severity=Severity.HIGH,
    what="No role is bound to everybody who has, or has not, logged in.",
    why=(
        "`system:authenticated` is every user and every pod of every team, `system:anonymous` whoever reaches the API "
        "server, from wherever."
    ),
    fix="Name the group or the service account that needs the role.",
    link=_PRACTICES,
)
def roles_of_everybody(binding: Field, report: Report) -> None:
    """Judge the subjects of a binding."""
    for subject in binding["subjects"].items():
        with report.reading():
            name = subject["name"]
            if name.text() in _EVERYBODY:
                report.violation(name, f"{name} is everybody")


@rule(
    ResourceRule,
    types=_ROLES,
    id="rbac-wildcards",
    severity=Severity.HIGH,
    what="Roles name their verbs, resources and API groups.",
    why="`*` is also what is added tomorrow: each new kind and each new verb belongs to the role unseen.",
    fix="List what is used.",
    link=_PRACTICES,
)
def rbac_wildcards(role: Field, report: Report) -> None:
    """Judge the rules of a role."""
    for permission in role["rules"].items():
        for part in ("verbs", "resources", "apiGroups", "nonResourceURLs"):
            with report.reading():
                for item in permission[part].items():
                    with report.reading():
                        if item.text() == _ALL:
                            report.violation(item, f"{part} are not named")


@rule(
    ResourceRule,
    types=_ROLES,
    id="secrets-readable",
    severity=Severity.HIGH,
    # Operators read secrets of all namespaces, KubeRay's too: they have to be looked at, not stopped.
    level=Level.ADVISORY,
    what="Roles read secrets by name, and none reads those of all namespaces.",
    why=(
        "Keys to buckets, registries and clouds are secrets. Who may list them has them all, those of every service "
        "account included."
    ),
    fix="Use a Role in place of a ClusterRole, with `resourceNames` and the verb `get`.",
    link=_PRACTICES,
)
def secrets_readable(role: Field, report: Report) -> None:
    """Judge the rules about secrets. Of rules about everything `rbac-wildcards` speaks."""
    for permission in role["rules"].items():
        with report.reading():
            if "secrets" not in _texts(permission["resources"]):
                continue
            named = bool(permission["resourceNames"].items())
            for verb in permission["verbs"].items():
                with report.reading():
                    # Who may list by name may list nothing else, but `get` of any name is all of them.
                    if verb.text() in _READING and not named:
                        report.violation(verb, f"{verb} of any secret")


@rule(
    ResourceRule,
    types=_ROLES,
    id="rbac-escalation",
    severity=Severity.HIGH,
    what="No role lets its holder become somebody else.",
    why=(
        "Who may bind roles, impersonate, make tokens, enter pods or talk to kubelets through the API server has what "
        "anybody there has, whatever the rest of the role says."
    ),
    fix="Remove the verb or the subresource; people get `edit` of their namespace.",
    link=_PRACTICES,
)
def rbac_escalation(role: Field, report: Report) -> None:
    """Judge verbs and subresources by which a role outgrows itself."""
    for permission in role["rules"].items():
        with report.reading():
            verbs = _texts(permission["verbs"])
            for verb in permission["verbs"].items():
                if verb.text() in _TAKING:
                    report.violation(verb, f"{verb} takes the rights of others")
            for resource in permission["resources"].items():
                doors = _DOORS.get(resource.text() or "", ())
                if verbs & {*doors, *((_ALL,) if doors else ())}:
                    report.violation(resource, f"{resource} leads to the rights of others")


def _texts(items: Field) -> set[str]:
    return {item.text() or "" for item in items.items()}


@rule(
    PodRule,
    id="service-account-token",
    severity=Severity.LOW,
    level=Level.ADVISORY,
    what="Pods that talk to no API server carry no token for it.",
    why=(
        "Every pod gets the token of its namespace's account `default` unless it says otherwise. One binding of "
        "a role to that account, and every job of the team has it."
    ),
    fix="Set `automountServiceAccountToken: false`, or name a service account of its own.",
    link="https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/",
)
def service_account_token(pod: Pod, report: Report) -> None:
    """Judge pods without an account of their own."""
    if pod.partial or _scaled_by_ray(pod):
        return
    mounted = pod.spec["automountServiceAccountToken"]
    account = pod.spec["serviceAccountName"].text()
    if account in (None, "", "default") and mounted.boolean() is not False and not of_system(pod, report):
        report.violation(mounted, "the pod carries the token of the account `default`")


def _scaled_by_ray(pod: Pod) -> bool:
    """Whether KubeRay gives the head an account, for Ray's autoscaler: it does so where no other is named."""
    return pod.group == "ray.io" and any(
        place["enableInTreeAutoscaling"].boolean() for place in _cluster_specs(pod.object["spec"])
    )


def _cluster_specs(spec: Field) -> Iterator[Field]:
    yield spec
    yield from (spec[name] for name in ("rayClusterSpec", "rayClusterConfig"))


RULES = (cluster_admin, roles_of_everybody, rbac_wildcards, secrets_readable, rbac_escalation, service_account_token)
