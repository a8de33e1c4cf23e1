"""The kinds of the Prometheus Operator: made by us, or somebody else's, and never by both.

Two owners of one definition undo each other's upgrades, and an older one that comes last drops fields of people's
objects. So ours are not put over a definition that somebody else made, and where others' are expected, nothing is made
before they are there.
"""

from http import HTTPStatus

import pulumi

from components.crds.definitions import MANAGER
from components.kubernetes.client import Reach
from model.environment import Environment
from model.monitoring.shape import Prometheus
from model.releases import catalogued

PRODUCT = "prometheus-operator-crds"
_SETTING = "environment.monitoring.prometheus.definitions"


def unclaimed(name: str, reach: Reach) -> pulumi.ResourceHookBinding:
    """Give the hook of each definition that is made: it refuses to take over somebody else's."""
    hook = pulumi.ResourceHook(f"{name}-unclaimed", lambda _: refuse_claimed(reach))
    return pulumi.ResourceHookBinding(before_create=[hook])


def known_kinds(name: str, environment: Environment, reach: Reach) -> pulumi.ResourceHookBinding | None:
    """Give the hook of an object of these kinds; None where the kinds are made here."""
    prometheus = environment.monitoring.prometheus
    if not isinstance(prometheus, Prometheus) or prometheus.definitions == "install":
        return None
    hook = pulumi.ResourceHook(f"{name}-known-kinds", lambda _: require(reach))
    return pulumi.ResourceHookBinding(before_create=[hook])


def refuse_claimed(reach: Reach) -> None:
    """Return when no definition is somebody else's.

    Raises:
        RuntimeError: One is.
    """
    for name, annotations in _found(reach).items():
        if annotations is None or annotations.get("pulumi.com/patchFieldManager") == MANAGER:
            continue
        version = annotations.get("operator.prometheus.io/version", "unknown")
        raise RuntimeError(
            f"{_SETTING}: install: the cluster has {name} already (of Prometheus Operator {version}), made by somebody "
            f"else, and two owners would undo each other's upgrades; fix: {_SETTING}: existing"
        )


def require(reach: Reach) -> None:
    """Return when the cluster has all definitions.

    Raises:
        RuntimeError: It has not.
    """
    missing = [name for name, annotations in _found(reach).items() if annotations is None]
    if missing:
        raise RuntimeError(
            f"{_SETTING}: existing: the cluster does not have {', '.join(missing)}; fix: install the Prometheus "
            f"Operator first, or {_SETTING}: install"
        )


def _found(reach: Reach) -> dict[str, dict[str, str] | None]:
    """The annotations of each definition; None where the cluster does not have it."""
    # Only a real run needs them, and a rehearsal should not pay for their import.
    from lightkube import ApiError
    from lightkube.resources.apiextensions_v1 import CustomResourceDefinition

    found: dict[str, dict[str, str] | None] = {}
    with reach.connected() as client:
        for name in sorted(catalogued()[PRODUCT].crds):
            try:
                metadata = client.get(CustomResourceDefinition, name).metadata
            except ApiError as error:
                if error.status.code != HTTPStatus.NOT_FOUND:
                    raise
                found[name] = None
            else:
                found[name] = (metadata.annotations if metadata else None) or {}
    return found
