"""The agents that share the GPUs of a node between containers, where no image and no operator brings them."""

import pulumi

from components.devices.device_plugin import DevicePlugin
from components.devices.feature_discovery import FeatureDiscovery
from components.devices.mig_manager import MigManager
from components.devices.mps_daemon import MpsDaemon
from model import devices, images
from model.environment import Environment
from model.releases import upstream


def agents(name: str, environment: Environment, opts: pulumi.ResourceOptions) -> None:
    """Make them.

    Args:
        name: What their names begin with.
        environment: The document.
        opts: Their options: parent, provider, and the namespace that must be there.
    """
    ours = set(images.plugin_pools(environment))
    plans = [plan for plan in devices.plans(environment) if ours.issuperset(plan.pools)]
    if not plans:
        return
    product = upstream(environment, "nvidia-device-plugin")
    plugin = DevicePlugin(f"{name}-device-plugin", environment=environment, plans=plans, upstream=product, opts=opts)
    for kind, what, chosen in (
        (FeatureDiscovery, "feature-discovery", [plan for plan in plans if plan.feature_discovery]),
        (MpsDaemon, "mps-daemon", [plan for plan in plans if plan.mps]),
    ):
        if chosen:
            kind(
                f"{name}-{what}",
                environment=environment,
                plans=chosen,
                configurations=plugin.configurations,
                upstream=product,
                opts=opts,
            )
    if cut := [pool for plan in plans if plan.layout for pool in plan.pools]:
        MigManager(
            f"{name}-mig-manager",
            environment=environment,
            pools=cut,
            layouts=devices.mig_configuration(environment),
            upstream=upstream(environment, "nvidia-mig-manager"),
            opts=opts,
        )
