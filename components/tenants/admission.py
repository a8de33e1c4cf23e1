"""The laws about workloads in the cluster itself: what people submit with kubectl meets no policy pack."""

import pulumi
from pulumi_kubernetes.admissionregistration.v1 import (
    MatchConditionArgs,
    MatchResourcesArgs,
    NamedRuleWithOperationsArgs,
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
    ValidatingAdmissionPolicyBindingSpecArgs,
    ValidatingAdmissionPolicySpecArgs,
    ValidationArgs,
    VariableArgs,
)
from pulumi_kubernetes.meta.v1 import LabelSelectorArgs, LabelSelectorRequirementArgs, ObjectMetaArgs

from components.component import Component
from model import tenants
from model.admission import policies
from model.admission.policies import Policy
from model.environment import Environment


@pulumi.type_token("gangline:index:Admission")
class Admission(Component):
    """What the API server refuses, or warns of, in the namespaces of teams."""

    def __init__(self, name: str, *, environment: Environment, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, {}, opts)
        for policy in policies.policies(environment):
            self._policy(f"{name}-{policy.action.lower()}", policy)
        self.register_outputs({})

    def _policy(self, name: str, policy: Policy) -> None:
        made = ValidatingAdmissionPolicy(
            name,
            metadata=ObjectMetaArgs(name=policy.name),
            spec=ValidatingAdmissionPolicySpecArgs(
                match_constraints=MatchResourcesArgs(
                    resource_rules=[
                        NamedRuleWithOperationsArgs(
                            api_groups=[group],
                            api_versions=["*"],
                            operations=["CREATE", "UPDATE"],
                            resources=list(kinds),
                        )
                        for group, kinds in policies.resources().items()
                    ]
                ),
                match_conditions=[
                    MatchConditionArgs(name=condition, expression=expression)
                    for condition, expression in policies.CONDITIONS.items()
                ],
                # It asks nobody, so that it cannot be out of order as a webhook can.
                failure_policy="Fail",
                variables=[VariableArgs(name=key, expression=value) for key, value in policy.variables.items()],
                validations=[
                    ValidationArgs(
                        expression=policies.EXPRESSION,
                        message=policies.MESSAGE,
                        message_expression=policies.MESSAGE_EXPRESSION,
                    )
                ],
            ),
            opts=pulumi.ResourceOptions(parent=self),
        )
        of_a_tenant = LabelSelectorRequirementArgs(key=tenants.LABEL, operator="Exists")
        ValidatingAdmissionPolicyBinding(
            f"{name}-binding",
            metadata=ObjectMetaArgs(name=policy.name),
            spec=ValidatingAdmissionPolicyBindingSpecArgs(
                policy_name=policy.name,
                validation_actions=[policy.action],
                match_resources=MatchResourcesArgs(
                    namespace_selector=LabelSelectorArgs(match_expressions=[of_a_tenant])
                ),
            ),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[made]),
        )
