"""Who may do what in the cluster."""

from typing import Any

from tests.policies.objects import (
    UNKNOWN,
    Breaks,
    Passes,
    Resource,
    Unknowns,
    document,
    platform,
    pod,
    template,
    workload,
)

_API = "kubernetes:rbac.authorization.k8s.io/v1:"


def bound(role: Any, *subjects: Any, kind: str = "ClusterRoleBinding") -> Resource:
    named = [{"kind": "Group", "name": name} for name in subjects or ("engineers",)]
    reference = {"kind": "ClusterRole", "name": role}
    fields = {"kind": kind, "metadata": {"name": "a"}, "roleRef": reference, "subjects": named}
    return Resource(f"{_API}{kind}", fields)


def listed(*resources: Resource) -> Resource:
    return Resource(f"{resources[0].type}List", {"items": [each.inputs for each in resources]})


def role(*rules: Any, kind: str = "ClusterRole") -> Resource:
    return Resource(f"{_API}{kind}", {"kind": kind, "metadata": {"name": "a"}, "rules": list(rules)})


def aggregating(*selectors: Any) -> Resource:
    made = role()
    return Resource(made.type, made.inputs | {"aggregationRule": {"clusterRoleSelectors": list(selectors)}})


def permits(resources: Any, verbs: Any, **more: Any) -> dict[str, Any]:
    return {"apiGroups": [""], "resources": resources, "verbs": verbs} | more


def ray(*, scaled: Any, kind: str = "RayCluster", within: str | None = None) -> Resource:
    spec = workload("RayCluster", {"spec": {"containers": []}}).inputs["spec"] | {"enableInTreeAutoscaling": scaled}
    return Resource(f"kubernetes:ray.io/v1:{kind}", {"spec": {within: spec} if within else spec})


_DECIDED = (
    ("cluster-admin", {"bindings": ["a*"]}),
    ("rbac-wildcards", {"roles": ["a"]}),
    ("rbac-escalation", {"roles": ["a"]}),
)
DECIDED = platform(document("twin") | {"policies": {"options": dict(_DECIDED)}})
"""It knows of a role and of a binding called `a`."""


def called(name: str, resource: Resource) -> Resource:
    return Resource(resource.type, resource.inputs | {"metadata": {"name": name}})


BREAKS: Breaks = {
    "cluster-admin": [
        (bound("cluster-admin"), "roleRef.name: is everything"),
        (bound("cluster-admin", kind="RoleBinding"), "roleRef.name"),
        (bound("edit"), "roleRef.name: is everything"),
        (listed(bound("view"), bound("admin")), "items[1].roleRef.name"),
        (bound("cluster-admin", kind="ClusterRoleBindingPatch"), "roleRef.name"),
        ([DECIDED, called("b", bound("cluster-admin"))], "roleRef.name: is everything"),
        ([DECIDED, bound("cluster-admin", "system:masters")], "subjects[0].name: this group passes every check"),
        (bound("view", "engineers", "system:masters"), "subjects[1].name: this group passes every check"),
    ],
    "roles-of-everybody": [
        (bound("view", "system:authenticated"), "subjects[0].name: system:authenticated is everybody"),
        (bound("edit", "engineers", "system:anonymous", kind="RoleBinding"), "subjects[1].name"),
    ],
    "rbac-wildcards": [
        (role(permits(["pods"], ["*"])), "rules[0].verbs[0]: verbs are not named"),
        (role(permits(["*"], ["get"])), "rules[0].resources[0]"),
        (role(permits(["pods"], ["get"], apiGroups=["apps", "*"])), "rules[0].apiGroups[1]"),
        (role(permits(["pods"], ["get"]), {"nonResourceURLs": ["*"], "verbs": ["get"]}), "rules[1].nonResourceURLs[0]"),
        (role(permits(["pods"], ["*"]), kind="Role"), "rules[0].verbs[0]"),
        (role({"nonResourceURLs": ["/*"], "verbs": ["get"]}), "rules[0].nonResourceURLs[0]"),
        (listed(role(), role(permits(["*"], ["get"]))), "items[1].rules[0].resources[0]"),
        (aggregating({}), "aggregationRule.clusterRoleSelectors[0]: takes in what any role says"),
        ([DECIDED, called("ab", role(permits(["pods"], ["*"])))], "rules[0].verbs[0]"),
    ],
    "secrets-readable": [
        (role(permits(["pods", "secrets"], ["list"])), "rules[0].verbs[0]: list of any secret"),
        (role(permits(["secrets"], ["create", "get"])), "rules[0].verbs[1]: get of any secret"),
        (role(permits(["secrets"], ["watch"]), kind="Role"), "rules[0].verbs[0]"),
    ],
    "rbac-escalation": [
        (role(permits(["clusterroles"], ["get", "bind"])), "rules[0].verbs[1]: bind takes the rights"),
        (role(permits(["users"], ["impersonate"])), "rules[0].verbs[0]"),
        (role(permits(["pods", "pods/exec"], ["create"])), "rules[0].resources[1]: pods/exec leads to"),
        (role(permits(["serviceaccounts/token"], ["create"]), kind="Role"), "rules[0].resources[0]"),
        (role(permits(["nodes/proxy"], ["*"])), "rules[0].resources[0]"),
        (role(permits(["*/exec"], ["create"])), "rules[0].resources[0]: */exec leads to"),
        (role(permits(["*/token"], ["*"]), kind="Role"), "rules[0].resources[0]"),
        (role(permits(["namespaces"], ["get", "patch"])), "rules[0].resources[0]: namespaces leads to"),
        (role(permits(["validatingadmissionpolicybindings"], ["delete"])), "rules[0].resources[0]"),
        (role(permits(["pods/ephemeralcontainers"], ["patch"])), "rules[0].resources[0]"),
        (role(permits(["certificatesigningrequests/approval"], ["update"])), "rules[0].resources[0]"),
        ([DECIDED, called("b", role(permits(["users"], ["impersonate"])))], "rules[0].verbs[0]"),
    ],
    "service-account-token": [
        (pod(automountServiceAccountToken=None), "spec.automountServiceAccountToken: the pod carries the token"),
        (pod(automountServiceAccountToken=True, serviceAccountName="default"), "spec.automountServiceAccountToken"),
        (workload("Deployment", {"spec": {"containers": []}}), "spec.template.spec.automountServiceAccountToken"),
        (workload("RayJob submitter", {"spec": {"containers": []}}), "spec.submitterPodTemplate.spec.automountService"),
    ],
}

PASSES: Passes = {
    "cluster-admin": [
        [DECIDED, bound("cluster-admin")],
        bound("admin", kind="RoleBinding"),
        bound("view", kind="RoleBinding"),
        bound("cluster-administration"),
    ],
    "roles-of-everybody": [bound("view", "engineers"), bound("view", "system:nodes")],
    "rbac-wildcards": [
        aggregating({"matchLabels": {"a": "b"}}),
        role(permits(["pods"], ["get", "list"])),
        role(),
        [DECIDED, role(permits(["*"], ["*"]))],
    ],
    "secrets-readable": [
        role(permits(["secrets"], ["get"], resourceNames=["mine"]), kind="Role"),
        role(permits(["secrets"], ["create"])),
        role(permits(["configmaps"], ["list"])),
    ],
    "rbac-escalation": [
        role(permits(["pods"], ["create", "get"])),
        role(permits(["pods/log"], ["get"])),
        role(permits(["*/scale", "*/status"], ["update"])),
        role(permits(["pods/exec", "pods/attach"], ["create"]), kind="Role"),
        role(permits(["namespaces"], ["get", "list", "create"])),
        [DECIDED, role(permits(["pods/exec"], ["create"]))],
        role(permits(["serviceaccounts/token"], ["get"])),
    ],
    "service-account-token": [
        pod(automountServiceAccountToken=False),
        pod(serviceAccountName="mine"),
        ray(scaled=True),
        ray(scaled=True, kind="RayJob", within="rayClusterSpec"),
        Resource(
            "kubernetes:ray.io/v1:RayCronJob",
            {"spec": {"jobTemplate": ray(scaled=True, within="rayClusterSpec").inputs["spec"]}},
        ),
        workload("DaemonSetPatch", template(automountServiceAccountToken=None)),
    ],
}

UNKNOWNS: Unknowns = {
    "cluster-admin": [(bound(UNKNOWN), "roleRef.name"), (bound("view", UNKNOWN), "subjects[0].name")],
    "roles-of-everybody": [(bound("view", UNKNOWN), "subjects[0].name")],
    "rbac-wildcards": [(role(permits(["pods"], [UNKNOWN])), "rules[0].verbs[0]"), (role(UNKNOWN), "rules[0]")],
    "secrets-readable": [
        (role(permits([UNKNOWN], ["list"])), "rules[0].resources[0]"),
        (role(permits(["secrets"], ["list"], resourceNames=UNKNOWN)), "rules[0].resourceNames"),
    ],
    "rbac-escalation": [(role(permits(["pods/exec"], [UNKNOWN])), "rules[0].verbs[0]")],
    "service-account-token": [
        (pod(automountServiceAccountToken=UNKNOWN), "spec.automountServiceAccountToken"),
        (pod(serviceAccountName=UNKNOWN), "spec.serviceAccountName"),
    ],
}
