"""Custom resource definitions as resources of their own."""

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.component import Component
from components.crds.source import KIND, Definition, definitions
from components.sources import Sources
from model.releases import Upstream

MANAGER = "gangline"
"""The field manager of all definitions, and by its annotation the mark of ours."""


@pulumi.type_token("gangline:index:CustomResourceDefinitions")
class CustomResourceDefinitions(Component):
    """The definitions that a release needs, taken from its own chart or manifests.

    They are apart from the release since objects of these kinds are people's work: deleting a definition deletes all
    its objects. So they are retained on destroy, adopted again by the next `up` (give the adopting provider), and
    upgraded before the release, which Helm does not do for a chart's `crds/`.
    """

    names: list[str]
    """Names of the definitions, sorted."""

    def __init__(
        self,
        name: str,
        *,
        upstream: Upstream,
        sources: Sources,
        hooks: pulumi.ResourceHookBinding | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Make them.

        Args:
            name: Logical name.
            upstream: The release.
            sources: Where it is found.
            hooks: What to ask before one is made.
            opts: Options.
        """
        super().__init__(name, {"product": upstream.product, "version": upstream.version}, opts)
        found = definitions(upstream, sources)
        self.names = [definition.name for definition in found]
        for definition in found:
            self._definition(name, definition, hooks)
        self.register_outputs({"names": self.names})

    def _definition(self, name: str, definition: Definition, hooks: pulumi.ResourceHookBinding | None) -> None:
        body = definition.body or {}
        metadata = body.get("metadata", {})
        # The untyped class registers the same resource type as the typed one, some twenty times faster: these
        # schemas have tens of thousands of nodes.
        CustomResource(
            f"{name}-{definition.name}",
            api_version="apiextensions.k8s.io/v1",
            kind=KIND,
            metadata=ObjectMetaArgs(
                name=definition.name,
                labels=metadata.get("labels"),
                annotations={
                    **(metadata.get("annotations") or {}),
                    "pulumi.com/waitFor": "condition=Established",
                    # One name for all runs: the engine would invent one each time the definitions are adopted, and all
                    # of them would stay in the object as owners of its fields.
                    "pulumi.com/patchFieldManager": MANAGER,
                    # What somebody else owned the server would refuse to change: no upgrade would get through.
                    "pulumi.com/patchForce": "true",
                },
            ),
            spec=body.get("spec", f"as in {definition.origin}, read at up"),
            opts=pulumi.ResourceOptions(parent=self, retain_on_delete=True, hooks=hooks),
        )
