"""The strict monitor knows what inputs may look like: planted mistakes are found, with their places."""

import copy
from typing import Any

import pytest

from twin import schema

DAEMON_SET = "kubernetes:apps/v1:DaemonSet"


def daemon_set() -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent", "namespace": "agents", "labels": {"app": "agent"}},
        "spec": {
            "selector": {"matchLabels": {"app": "agent"}},
            "template": {
                "metadata": {"labels": {"app": "agent"}},
                "spec": {
                    "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
                    "containers": [
                        {
                            "name": "agent",
                            "image": "agent:1",
                            "ports": [{"containerPort": 8080.0}],
                            "resources": {"limits": {"memory": "256Mi"}},
                        }
                    ],
                },
            },
        },
    }


def test_sound_inputs_have_no_mistakes() -> None:
    assert list(schema.mistakes(DAEMON_SET, daemon_set())) == []


@pytest.mark.parametrize(
    ("plant", "found"),
    [
        (lambda pod: pod.update(toleration=[]), "spec.template.spec.toleration: no such property of PodSpec"),
        (lambda pod: pod.pop("containers"), "spec.template.spec.containers: missing"),
        (lambda pod: pod.update(hostNetwork="yes"), "spec.template.spec.hostNetwork: 'yes' is not bool"),
        (lambda pod: pod.update(containers={}), "spec.template.spec.containers: {} is not a list"),
        (
            lambda pod: pod["containers"][0]["ports"][0].update(containerPort="8080"),
            "spec.template.spec.containers[0].ports[0].containerPort: '8080' is not int",
        ),
        (
            lambda pod: pod["containers"][0]["ports"][0].update(containerPort=80.5),
            "spec.template.spec.containers[0].ports[0].containerPort: 80.5 is not int",
        ),
        (
            lambda pod: pod["containers"][0]["resources"]["limits"].update(cpu=4),
            "spec.template.spec.containers[0].resources.limits.cpu: 4 is not str",
        ),
        (
            lambda pod: pod["containers"][0].update(imagee="agent:2"),
            "spec.template.spec.containers[0].imagee: no such property of Container",
        ),
        (
            lambda pod: pod.update(tolerations=["Exists"]),
            "spec.template.spec.tolerations[0]: 'Exists' is not Toleration",
        ),
    ],
)
def test_planted_mistake_is_found_at_its_place(plant: Any, found: str) -> None:
    inputs = daemon_set()
    plant(inputs["spec"]["template"]["spec"])
    assert list(schema.mistakes(DAEMON_SET, inputs)) == [found]


def test_label_that_is_no_text_is_found() -> None:
    inputs = copy.deepcopy(daemon_set())
    inputs["metadata"]["labels"]["gpu"] = True
    assert list(schema.mistakes(DAEMON_SET, inputs)) == ["metadata.labels.gpu: True is not str"]


def test_custom_resource_is_checked_in_what_all_objects_share() -> None:
    queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "metadata": {"nam": "q"}, "spec": {"anything": 1}}
    found = list(schema.mistakes("kubernetes:scheduling.volcano.sh/v1beta1:Queue", queue))
    assert found == ["metadata.nam: no such property of ObjectMeta", "kind: missing"]


def test_inputs_of_aws_are_known_too() -> None:
    group = {
        "clusterName": "atlas",
        "nodeRoleArn": "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
        "scalingConfig": {"minSize": 0, "maxSize": "1", "desiredSize": 1},
        "taints": [{"key": "gpu", "efect": "NO_SCHEDULE"}],
    }
    assert list(schema.mistakes("aws:eks/nodeGroup:NodeGroup", group)) == [
        "scalingConfig.maxSize: '1' is not int",
        "taints[0].efect: no such property of NodeGroupTaint",
        "taints[0].effect: missing",
        "subnetIds: missing",
    ]


def test_secret_is_not_looked_into() -> None:
    sealed = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": 5}
    inputs = {"metadata": {"name": "s", "namespace": "n"}, "immutable": sealed}
    assert list(schema.mistakes("kubernetes:core/v1:ConfigMap", inputs)) == []


def test_provider_configuration_is_text_on_the_wire() -> None:
    assert list(schema.mistakes("pulumi:providers:kubernetes", {"enableServerSideApply": "true"})) == []
    assert list(schema.mistakes("pulumi:providers:kubernetes", {"enableServerSideApply": "ja"})) != []


@pytest.mark.parametrize(
    "token",
    [
        "kubernetes:core/v1:Namespace",
        "kubernetes:rbac.authorization.k8s.io/v1:Role",
        "kubernetes:helm.sh/v3:Release",
        "kubernetes:admissionregistration.k8s.io/v1:ValidatingWebhookConfigurationPatch",
        "pulumi:providers:kubernetes",
        "pulumi:providers:aws",
        "aws:ec2/launchTemplate:LaunchTemplate",
        "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
        "aws:sqs/queue:Queue",
    ],
)
def test_inputs_of_every_type_that_stacks_use_are_known(token: str) -> None:
    assert schema.arguments(token) is not None
