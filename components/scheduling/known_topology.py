"""Waiting until the scheduler knows the topology that a gang is bound to."""

import pulumi
from tenacity import RetryError, Retrying, retry_if_result, stop_after_delay, wait_fixed

from model.environment import Environment
from model.topology import Level

SECONDS = 120


def known_topology(name: str, environment: Environment, level: Level) -> pulumi.ResourceHook:
    """Give a hook that holds a gang back until Volcano has HyperNodes of the level that bounds it.

    Volcano places a gang in hard mode anywhere while there is no HyperNode, without a word. They appear some seconds
    after Volcano where they are discovered from node labels, and never where the nodes lack the labels. Their names
    are random, so there is no one object that the engine could wait for.
    """

    def wait(_: pulumi.ResourceHookArgs) -> None:
        # Only a real run needs a client, and a rehearsal should not pay for its import.
        from lightkube import Client, KubeConfig
        from lightkube.generic_resource import create_global_resource

        hypernode = create_global_resource("topology.volcano.sh", "v1alpha1", "HyperNode", "hypernodes")
        config = KubeConfig.from_env().get(environment.cluster.context)
        with Client(config=config) as client:
            waiting = Retrying(
                retry=retry_if_result(lambda known: not known), stop=stop_after_delay(SECONDS), wait=wait_fixed(1)
            )
            try:
                waiting(lambda: any((node.spec or {}).get("tier") == level.tier for node in client.list(hypernode)))
            except RetryError:
                raise RuntimeError(
                    f"{name}: must stay within one {level.name}, but Volcano knows none (no HyperNode of tier "
                    f"{level.tier}) and would place it anywhere; fix: label the nodes: {level.label}"
                ) from None

    return pulumi.ResourceHook(f"{name}-known-topology", wait)
