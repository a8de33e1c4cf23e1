"""Laws about who may do what in the cluster."""

from collections.abc import Mapping

from policies.fields import Field
from policies.pods import Pod
from policies.rules import Level, Option, PodRule, Report, ResourceRule, Severity, rule
from policies.scopes import of_system, ray_clusters

_API = "kubernetes:rbac.authorization.k8s.io/v1:"
_FORMS = ("", "Patch", "List")
_ROLES = tuple(f"{_API}{kind}{form}" for kind in ("ClusterRole", "Role") for form in _FORMS)
_BINDINGS = tuple(f"{_API}{kind}{form}" for kind in ("ClusterRoleBinding", "RoleBinding") for form in _FORMS)
_PRACTICES = "https://kubernetes.io/docs/concepts/security/rbac-good-practices/"
_EVERYBODY = frozenset({"system:anonymous", "system:unauthenticated", "system:authenticated", "system:serviceaccounts"})
_ALL = "*"
_ALL_ROLES = frozenset({"cluster-admin"})
_OF_ALL = frozenset({"cluster-admin", "admin", "edit"})
"""Roles that are everything in the cluster where they are bound for all namespaces."""
_READING = frozenset({"get", "list", "watch", _ALL})
_TAKING = frozenset({"escalate", "bind", "impersonate"})
_DOORS = {
    # Resources, and the verbs by which one becomes somebody else or takes down what keeps others apart.
    "serviceaccounts/token": ("create",),
    "nodes/proxy": ("create", "get", "update", "patch", "delete"),
    "certificatesigningrequests/approval": ("update", "patch"),
    "namespaces": ("update", "patch"),  # their labels and annotations say whose they are, and what may be done there
    "validatingadmissionpolicies": ("update", "patch", "delete"),
    "validatingadmissionpolicybindings": ("update", "patch", "delete"),
}
_ENTRANCES = {
    # Whoever has one namespace may enter its pods: `edit` says so too. In all namespaces it is everybody's rights.
    "pods/exec": ("create", "get"),
    "pods/attach": ("create", "get"),
    "pods/ephemeralcontainers": ("update", "patch"),
}
_ROLES_OPTION = {"roles": Option(list, (), "Names of roles, `*` for any text, of which this was decided.")}


@rule(
    ResourceRule,
    types=_BINDINGS,
    id="cluster-admin",
    severity=Severity.CRITICAL,
    what="Nobody is bound to `cluster-admin`, nor to `admin` or `edit` in all namespaces.",
    why=(
        "It is everything, everywhere: who has it reads each team's secrets, changes each queue and removes each "
        "fence; who may make pods in the namespaces of the system soon does. A stolen token of such an account is the "
        "cluster."
    ),
    fix=(
        "Write a role with what is needed; for people bind `admin` or `edit` in a namespace (RoleBinding). Name the "
        "binding of a delivery tool that cannot do with less in the option `bindings`."
    ),
    link=_PRACTICES,
    options={"bindings": Option(list, (), "Names of bindings, `*` for any text, of which this was decided.")},
)
def cluster_admin(binding: Field, report: Report) -> None:
    """Judge the role of a binding, and the group that needs none."""
    with report.reading():
        name = binding.at("roleRef", "name")
        everywhere = binding["kind"].text() != "RoleBinding"
        if name.text() in (_OF_ALL if everywhere else _ALL_ROLES) and not _named(binding, report, "bindings"):
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
    fix="List what is used. Name a role that has to do everything, as a delivery tool's, in the option `roles`.",
    link=_PRACTICES,
    options=_ROLES_OPTION,
)
def rbac_wildcards(role: Field, report: Report) -> None:
    """Judge the rules of a role."""
    if _named(role, report, "roles"):
        return
    for permission in role["rules"].items():
        for part in ("verbs", "resources", "apiGroups", "nonResourceURLs"):
            with report.reading():
                for item in permission[part].items():
                    with report.reading():
                        if item.text() in (_ALL, "/*"):
                            report.violation(item, f"{part} are not named")
    for selector in role.at("aggregationRule", "clusterRoleSelectors").items():
        if not any(selector[key].value for key in ("matchLabels", "matchExpressions")):
            report.violation(selector, "takes in what any role says")


@rule(
    ResourceRule,
    types=_ROLES,
    id="secrets-readable",
    severity=Severity.HIGH,
    # Operators read secrets of all namespaces, KubeRay's too: they have to be looked at, not stopped.
    level=Level.ADVISORY,
    what="Roles read secrets by name.",
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
    what="No role lets its holder become somebody else, or take down what keeps others apart.",
    why=(
        "Who may bind roles, impersonate, make tokens, enter everybody's pods or talk to kubelets through the API "
        "server has what anybody there has. Who may change namespaces says which team one is of, and which queues."
    ),
    fix=(
        "Remove the verb or the resource; people get `edit` of their namespace. Name the role of an operator "
        "that cannot do without in the option `roles`."
    ),
    link=_PRACTICES,
    options=_ROLES_OPTION,
)
def rbac_escalation(role: Field, report: Report) -> None:
    """Judge verbs and resources by which a role outgrows itself."""
    if _named(role, report, "roles"):
        return
    doors = _DOORS if role["kind"].text() == "Role" else {**_DOORS, **_ENTRANCES}
    for permission in role["rules"].items():
        with report.reading():
            verbs = _texts(permission["verbs"])
            for verb in permission["verbs"].items():
                if verb.text() in _TAKING:
                    report.violation(verb, f"{verb} takes the rights of others")
            for resource in permission["resources"].items():
                leading = _leading(resource.text() or "", doors)
                if leading and verbs & {*leading, _ALL}:
                    report.violation(resource, f"{resource} leads to the rights of others")


def _leading(resource: str, doors: Mapping[str, tuple[str, ...]]) -> set[str]:
    """The verbs that count for a resource as a role writes it: `*/exec` is that of every kind."""
    return {
        verb for door, verbs in doors.items() if resource in (door, f"*/{door.partition('/')[2]}") for verb in verbs
    }


def _named(it: Field, report: Report, option: str) -> bool:
    """Whether the environment has decided of a role or a binding; its name is read only if some have names."""
    return bool(report.options[option]) and report.listed(option, it.at("metadata", "name").text() or "")


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
        cluster["enableInTreeAutoscaling"].boolean() for cluster in ray_clusters(pod.object)
    )


RULES = (cluster_admin, roles_of_everybody, rbac_wildcards, secrets_readable, rbac_escalation, service_account_token)
