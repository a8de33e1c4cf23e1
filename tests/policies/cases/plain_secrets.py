"""Keys and tokens in plain inputs. The tokens here are made up, and put together only when the tests run."""

import base64
from typing import Any

from tests.policies.objects import (
    SIGNATURE,
    UNKNOWN,
    Breaks,
    Passes,
    Resource,
    Unknowns,
    container,
    pod,
    secret,
    workload,
)

AWS = "AKIA" + "Q" * 16
GITHUB = "ghp_" + "a1" * 18
HUGGING_FACE = "hf_" + "aB" * 17
KEY = "-----BEGIN OPENSSH " + "PRIVATE KEY-----\nabc"
SIGNED = ".".join(["eyJ" + "a" * 20, "eyJ" + "b" * 20, "c" * 40])


def variable(value: Any) -> dict[str, Any]:
    return container(env=[{"name": "MODE", "value": "fast"}, {"name": "TOKEN", "value": value}])


def config(**data: Any) -> Resource:
    return Resource("kubernetes:core/v1:ConfigMap", {"data": data})


def template(data: Any) -> Resource:
    return Resource("aws:ec2/launchTemplate:LaunchTemplate", {"userData": data})


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


BREAKS: Breaks = {
    "plain-secrets": [
        (pod(variable(HUGGING_FACE)), "spec.containers[0].env[1].value: holds a token of Hugging Face"),
        (pod(variable(f"https://x:{GITHUB}@github.com/a")), "spec.containers[0].env[1].value: holds a token of GitHub"),
        (
            workload("Volcano Job", {"spec": {"containers": [variable(AWS)]}}),
            "spec.tasks[1].template.spec.containers[0].env[1].value: holds an access key of AWS",
        ),
        (config(**{"key.pem": KEY}), 'data["key.pem"]: holds a private key'),
        (config(config=f"token: {SIGNED}\n"), "data.config: holds a signed token"),
        (Resource("kubernetes:helm.sh/v3:Release", {"values": {"hub": {"token": GITHUB}}}), "values.hub.token"),
        (template(encoded(f"export AWS_ACCESS_KEY_ID={AWS}")), "userData: holds an access key of AWS"),
        (Resource("aws:ssm/parameter:Parameter", {"value": "nvapi-" + "x" * 64}), "value: holds a key of NVIDIA's"),
        (Resource("kubernetes:core/v1:Secret", {"stringData": {"token": "glpat-" + "x" * 20}}), "stringData.token"),
        (
            Resource("kubernetes:core/v1:Secret", {"data": {"token": encoded(GITHUB)}}),
            "data.token: holds a token of GitHub",
        ),
        (
            workload("ReplicaSet", {"spec": {"containers": [variable(GITHUB)]}}),
            "spec.template.spec.containers[0].env[1].value: holds a token of GitHub",
        ),
        (
            workload("RayCronJob", {"spec": {"containers": [variable(GITHUB)]}}),
            "spec.jobTemplate.rayClusterSpec.workerGroupSpecs[0].template.spec.containers[0].env[1].value",
        ),
        (workload("PodTemplate", {"spec": {"containers": [variable(GITHUB)]}}), "template.spec.containers[0].env[1]"),
        (workload("DaemonSetPatch", {"spec": {"containers": [variable(AWS)]}}), "holds an access key of AWS"),
        (Resource("kubernetes:helm.sh/v4:Chart", {"values": {"hub": {"token": GITHUB}}}), "values.hub.token"),
        (
            Resource("aws:lambda/function:Function", {"environment": {"variables": {"TOKEN": GITHUB}}}),
            "environment.variables.TOKEN: holds a token of GitHub",
        ),
        (config(a="xoxb-" + "1" * 20, b=UNKNOWN), "data.a: holds a token of Slack"),
    ],
}

PASSES: Passes = {
    "plain-secrets": [
        pod(variable(secret(GITHUB))),
        pod(container(env=[{"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}}])),
        Resource("kubernetes:core/v1:Secret", {"stringData": secret({"token": GITHUB})}),
        config(example="AKIAIOSFODNN7EXAMPLE", image="sha256:" + "a" * 64, public="-----BEGIN PUBLIC KEY-----"),
        config(file={SIGNATURE: "c44067f5952c0a294b673a41bacd8c17", "text": "an asset"}),
        template(encoded("#!/bin/sh\n")),
        template("no base64 at all"),
        Resource("kubernetes:core/v1:Secret", {"data": {"token": encoded("no token"), "empty": ""}}),
        Resource("kubernetes:core/v1:Secret", {"data": secret({"token": encoded(GITHUB)})}),
    ],
}

UNKNOWNS: Unknowns = {
    "plain-secrets": [
        (pod(variable(UNKNOWN)), "spec.containers[0].env[1].value"),
        (config(a=UNKNOWN), "data.a"),
        (Resource("kubernetes:core/v1:ConfigMap", {"data": UNKNOWN}), "data"),
    ],
}
