"""The base of all components."""

from collections.abc import Mapping
from typing import Any

import pulumi


class Component(pulumi.ComponentResource):
    """A component whose type token is given once, by `@pulumi.type_token` on its class."""

    def __init__(self, name: str, props: Mapping[str, Any], opts: pulumi.ResourceOptions | None) -> None:
        """Register it.

        Args:
            name: Logical name; children's names begin with it, since URNs hold only the types of parents.
            props: What it was made from, for the state, diffs and policies.
            opts: Its options. They are never passed on to children, which inherit providers through their parent.
        """
        token = pulumi.get_type_token(type(self))
        if token is None:
            raise TypeError(f"{type(self).__name__} has no @pulumi.type_token")
        super().__init__(token, name, dict(props), opts)
