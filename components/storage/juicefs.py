"""JuiceFS: datasets of a bucket, cached on the nodes' disks."""

import pulumi

from components.charts import installed
from components.component import Component
from components.namespaces import namespace
from components.placement import beside_gpus, on_pools, tolerations
from components.sources import Sources
from model.environment import Environment
from model.namespaces import JUICEFS
from model.releases import Upstream
from model.storage import caches, disks

RELEASE = "juicefs-csi-driver"


@pulumi.type_token("gangline:index:JuiceFs")
class JuiceFs(Component):
    """JuiceFS's CSI driver: on each node with scratch, a mount of each file system, with its cache on that scratch."""

    def __init__(
        self,
        name: str,
        *,
        environment: Environment,
        upstream: Upstream,
        client: Upstream,
        sources: Sources,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"version": upstream.version, "client": client.version}, opts)
        own = namespace(f"{name}-namespace", JUICEFS, "privileged", pulumi.ResourceOptions(parent=self))
        values = caches.driver_values(environment, client.images["mount"])
        pools = disks.pools(environment)
        affinity, tolerated = beside_gpus(environment)
        # The chart's own tolerations leave out the taints of GPU nodes, whose pods would then find no such driver.
        values["node"] = {"affinity": on_pools(pools), "tolerations": tolerations(environment, pools)}
        values["controller"] = {"tolerations": tolerated, **({"affinity": affinity} if affinity else {})}
        installed(
            f"{name}-release",
            RELEASE,
            namespace=JUICEFS,
            upstream=upstream,
            sources=sources,
            values=values,
            opts=pulumi.ResourceOptions(parent=self, depends_on=[own]),
        )
        self.register_outputs({})
