"""A law in the cluster itself: a queue is not deleted while pods are in it."""

import pulumi
from pulumi_kubernetes.admissionregistration.v1 import (
    MatchResourcesArgs,
    NamedRuleWithOperationsArgs,
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
    ValidatingAdmissionPolicyBindingSpecArgs,
    ValidatingAdmissionPolicySpecArgs,
    ValidationArgs,
)
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from model.volcano import AGREED, REMOVAL

NAME = "gangline-busy-queues"
_PODS = "string(oldObject.?status.?allocated[?'pods'].orValue('0'))"
_AGREED = f"oldObject.metadata.?annotations[?'{REMOVAL}'].orValue('') == '{AGREED}'"
_SAYS = (
    "'queue ' + oldObject.metadata.name + ' has pods in it (' + "
    f"{_PODS} + '). Let them end or move them; to delete it all the same: '"
    f" + 'kubectl annotate queue ' + oldObject.metadata.name + ' {REMOVAL}={AGREED}'"
)


def queue_guard(name: str, parent: pulumi.Resource) -> pulumi.Resource:
    """Make the law, and give what queues come after, so that it goes after them.

    Volcano has such a check (`--enable-queue-allocated-pods-check` of its webhook manager, off by default), but its
    chart has no value for it. This one holds for every client: kubectl, and plain
    `pulumi destroy`, which runs no hooks.
    """
    policy = ValidatingAdmissionPolicy(
        f"{name}-guard",
        metadata=ObjectMetaArgs(name=NAME),
        spec=ValidatingAdmissionPolicySpecArgs(
            match_constraints=MatchResourcesArgs(
                resource_rules=[
                    NamedRuleWithOperationsArgs(
                        api_groups=["scheduling.volcano.sh"],
                        api_versions=["*"],
                        operations=["DELETE"],
                        resources=["queues"],
                    )
                ]
            ),
            # It asks nobody, so that it cannot be out of order as a webhook can.
            failure_policy="Fail",
            validations=[
                ValidationArgs(
                    expression=f"{_AGREED} || {_PODS} == '0'",
                    message="a queue with pods in it is not deleted",
                    message_expression=_SAYS,
                )
            ],
        ),
        opts=pulumi.ResourceOptions(parent=parent),
    )
    return ValidatingAdmissionPolicyBinding(
        f"{name}-guard-binding",
        metadata=ObjectMetaArgs(name=NAME),
        spec=ValidatingAdmissionPolicyBindingSpecArgs(policy_name=NAME, validation_actions=["Deny"]),
        opts=pulumi.ResourceOptions(parent=parent, depends_on=[policy]),
    )
