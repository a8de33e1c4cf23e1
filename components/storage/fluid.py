"""Fluid: datasets that are cached on some nodes, and known to the cluster by name."""

from collections.abc import Iterable

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.charts import installed
from components.component import Component
from components.namespaces import namespace
from components.sources import Sources
from model.environment import Environment
from model.namespaces import FLUID
from model.releases import Upstream
from model.storage import caches
from model.storage.cache import Fluid as Declared

_API = "data.fluid.io/v1alpha1"


@pulumi.type_token("gangline:index:Fluid")
class Fluid(Component):
    """Fluid's controllers and its CSI plugin, with the one runtime that is used switched on."""

    def __init__(
        self,
        name: str,
        *,
        environment: Environment,
        upstream: Upstream,
        sources: Sources,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"version": upstream.version}, opts)
        own = namespace(f"{name}-namespace", FLUID, "privileged", pulumi.ResourceOptions(parent=self))
        installed(
            f"{name}-release",
            "fluid",
            namespace=FLUID,
            upstream=upstream,
            sources=sources,
            values=caches.fluid_values(environment),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[own]),
        )
        self.register_outputs({})


@pulumi.type_token("gangline:index:Datasets")
class Datasets(Component):
    """The datasets, and what caches each, in every namespace: their keys are a Secret of that namespace."""

    def __init__(
        self,
        name: str,
        *,
        environment: Environment,
        cache: Declared,
        namespaces: Iterable[str],
        client: Upstream,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {}, opts)
        for where in namespaces:
            for dataset in cache.datasets:
                kind, spec = caches.runtime(environment, dataset, client.images["mount"])
                named = ObjectMetaArgs(name=dataset, namespace=where)
                declared = CustomResource(
                    f"{name}-{where}-{dataset}-dataset",
                    api_version=_API,
                    kind="Dataset",
                    metadata=named,
                    spec=caches.dataset(environment, dataset),
                    opts=pulumi.ResourceOptions(parent=self),
                )
                # Fluid joins the two by their name.
                CustomResource(
                    f"{name}-{where}-{dataset}-runtime",
                    api_version=_API,
                    kind=kind,
                    metadata=named,
                    spec=spec,
                    opts=pulumi.ResourceOptions(parent=self, depends_on=[declared]),
                )
        self.register_outputs({})
