"""Volcano, by its own chart, with the configuration that the document implies."""

import pulumi
import yaml
from pulumi_kubernetes.admissionregistration.v1 import ValidatingWebhookConfigurationPatch
from pulumi_kubernetes.meta.v1 import ObjectMetaPatchArgs

from components.charts import installed
from components.component import Component
from components.kubernetes.client import Reach
from components.kubernetes.patches import UNCOMPARED
from components.namespaces import namespace
from components.placement import beside_gpus
from components.scheduling.known_topology import settle_topology
from components.sources import Sources
from model import volcano
from model.environment import Environment
from model.namespaces import VOLCANO
from model.releases import Upstream
from model.storage import drivers

RELEASE = "volcano"

# The chart's own list and /podgroups/mutate, which gives workloads the default queue that their namespace names.
_ADMISSIONS = (
    "/jobs/mutate",
    "/jobs/validate",
    "/podgroups/mutate",
    "/podgroups/validate",
    "/queues/mutate",
    "/queues/validate",
    "/hypernodes/validate",
    "/cronjobs/validate",
)
# A fixed name in the chart (templates/webhooks.yaml).
_QUEUE_WEBHOOK = "volcano-admission-service-queues-validate"


@pulumi.type_token("gangline:index:Volcano")
class Volcano(Component):
    """The scheduler, its controllers and its admission webhooks.

    A helm Release and not rendered objects, since the chart makes the webhooks' certificate in a hook. What depends on
    this component may write queues: it is complete when the queue webhook has its certificate.
    """

    namespace: pulumi.Output[str]
    """The namespace that it runs in."""

    def __init__(
        self,
        name: str,
        *,
        environment: Environment,
        upstream: Upstream,
        sources: Sources,
        reach: Reach,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"version": upstream.version}, opts)
        own = namespace(f"{name}-namespace", VOLCANO, "baseline", pulumi.ResourceOptions(parent=self))
        self.namespace = own.metadata.apply(lambda metadata: metadata.name or VOLCANO)
        release = installed(
            f"{name}-release",
            RELEASE,
            namespace=VOLCANO,
            upstream=upstream,
            sources=sources,
            values=_values(environment, upstream),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[own]),
        )
        # Helm is done when the pods run, but the webhook manager writes its certificate into this object only after
        # that, and until then the API server refuses every queue and job.
        webhook = ValidatingWebhookConfigurationPatch(
            f"{name}-webhook",
            metadata=ObjectMetaPatchArgs(
                name=_QUEUE_WEBHOOK,
                annotations={"pulumi.com/waitFor": "jsonpath={.webhooks[0].clientConfig.caBundle}"},
            ),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[release], ignore_changes=[*UNCOMPARED]),
        )
        settle_topology(environment, reach, webhook)
        self.register_outputs({"namespace": self.namespace})


def _values(environment: Environment, upstream: Upstream) -> dict[str, object]:
    affinity, tolerations = beside_gpus(environment)
    custom: dict[str, object] = {
        **volcano.PACE,
        # Text, as the chart pastes it into a block.
        "scheduler_config_override": yaml.safe_dump(volcano.scheduler_configuration(environment), sort_keys=False),
        # A mapping: text would become text inside the configuration, which the controller then ignores.
        "controller_config_override": volcano.controller_configuration(environment),
        "enabled_admissions": ",".join(_admissions(environment)),
    }
    if mounted := drivers.unattached(environment):
        # Volcano counts the volumes of each driver as a resource, and nodes have none of it where nothing is attached.
        custom["ignored_provisioners"] = ",".join(mounted)
    if affinity is not None:
        custom["default_affinity"] = affinity
    if tolerations:
        custom["default_tolerations"] = tolerations
    return {
        "basic": {
            "image_registry": upstream.images["registry"],
            "image_tag_version": upstream.images["tag"],
            # "Always" would make every restart depend on the registry.
            "image_pull_policy": "IfNotPresent",
        },
        "custom": custom,
    }


def _admissions(environment: Environment) -> list[str]:
    """Give the webhooks that are on.

    Where Volcano's controller makes the HyperNodes from labels, nobody else may write them, and their webhook must be
    off: the controller makes them once, when it starts, and does not try again. A webhook that is not up by then leaves
    the cluster without any topology, and a gang that must stay in one rack is spread over all (volcano issue 5027).
    """
    discovered = volcano.controller_configuration(environment)
    return [path for path in _ADMISSIONS if not (discovered and path.startswith("/hypernodes/"))]
