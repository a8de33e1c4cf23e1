"""What a kubelet puts into a container: files of ConfigMaps and Secrets, and environment variables."""

import base64
from collections.abc import Mapping
from decimal import ROUND_CEILING, Decimal
from pathlib import Path
from typing import Any

from lightkube import AsyncClient
from lightkube.core.exceptions import ApiError
from lightkube.resources.core_v1 import ConfigMap, Secret

from model.quantities import Quantity
from twin import files
from twin.loans import LoanRefusedError, NotYetError


async def write_volumes(client: AsyncClient, pod: Mapping[str, Any], directory: Path) -> bool:
    """Write the volumes of a pod to files, and what changed in them since.

    Args:
        client: Reads ConfigMaps and Secrets.
        pod: The pod, as the API server sends it.
        directory: Gets a directory for each volume, named like it.

    Returns:
        Whether anything changed.

    Raises:
        NotYetError: A ConfigMap or Secret does not exist.
        LoanRefusedError: A volume is of a kind that the twin does not stand for.
    """
    changed = False
    for volume in pod["spec"].get("volumes") or []:
        target = directory / volume["name"]
        target.mkdir(parents=True, exist_ok=True, mode=0o700)
        if "emptyDir" in volume or "projected" in volume:
            continue
        wanted = await _contents(client, pod["metadata"]["namespace"], volume)
        # Each file is replaced as a whole: Volcano's scheduler watches the directory, an empty file is fatal to it.
        for name, content in wanted.items():
            changed |= files.write(target / name, content)
        for stale in target.rglob("*"):
            if stale.is_file() and not stale.name.startswith(".") and str(stale.relative_to(target)) not in wanted:
                stale.unlink()
                changed = True
    return changed


async def _contents(client: AsyncClient, namespace: str, volume: Mapping[str, Any]) -> dict[str, bytes]:
    if source := volume.get("configMap"):
        data = await _config_map(client, namespace, source["name"], optional=bool(source.get("optional")))
    elif source := volume.get("secret"):
        data = await _secret(client, namespace, source["secretName"], optional=bool(source.get("optional")))
    else:
        kind = next((key for key in volume if key != "name"), "unknown")
        raise LoanRefusedError(f"volume {volume['name']}: the twin does not stand for volumes of kind {kind}")
    if items := source.get("items"):
        return {item["path"]: data[item["key"]] for item in items if item["key"] in data}
    return data


async def _config_map(client: AsyncClient, namespace: str, name: str, *, optional: bool) -> dict[str, bytes]:
    found = await _get(client, ConfigMap, namespace, name, optional=optional)
    text = {key: value.encode() for key, value in ((found and found.data) or {}).items()}
    return text | {key: base64.b64decode(value) for key, value in ((found and found.binaryData) or {}).items()}


async def _secret(client: AsyncClient, namespace: str, name: str, *, optional: bool) -> dict[str, bytes]:
    found = await _get(client, Secret, namespace, name, optional=optional)
    return {key: base64.b64decode(value) for key, value in ((found and found.data) or {}).items()}


async def _get(client: AsyncClient, kind: Any, namespace: str, name: str, *, optional: bool) -> Any:
    try:
        return await client.get(kind, name, namespace=namespace)
    except ApiError as error:
        if error.status.code != 404:
            raise
        if optional:
            return None
        raise NotYetError(f"{kind.__name__} {namespace}/{name} does not exist") from None


async def environment(client: AsyncClient, pod: Mapping[str, Any], container: Mapping[str, Any]) -> dict[str, str]:
    """Give the environment of a container, references resolved.

    Raises:
        NotYetError: A ConfigMap or Secret does not exist.
        LoanRefusedError: A reference is of a kind that the twin does not stand for.
    """
    namespace = pod["metadata"]["namespace"]
    values: dict[str, str] = {}
    for source in container.get("envFrom") or []:
        prefix = source.get("prefix", "")
        data: dict[str, bytes] = {}
        if reference := source.get("configMapRef"):
            data = await _config_map(client, namespace, reference["name"], optional=bool(reference.get("optional")))
        elif reference := source.get("secretRef"):
            data = await _secret(client, namespace, reference["name"], optional=bool(reference.get("optional")))
        values |= {prefix + key: value.decode() for key, value in data.items()}
    for variable in container.get("env") or []:
        value = variable.get("value", "")
        if source := variable.get("valueFrom"):
            value = await _reference(client, pod, container, variable["name"], source)
        if value is not None:
            values[variable["name"]] = value
    return values


async def _reference(
    client: AsyncClient, pod: Mapping[str, Any], container: Mapping[str, Any], name: str, source: Mapping[str, Any]
) -> str | None:
    namespace = pod["metadata"]["namespace"]
    if reference := source.get("configMapKeyRef"):
        data = await _config_map(client, namespace, reference["name"], optional=bool(reference.get("optional")))
        return _key(data, reference, f"ConfigMap {namespace}/{reference['name']}")
    if reference := source.get("secretKeyRef"):
        data = await _secret(client, namespace, reference["name"], optional=bool(reference.get("optional")))
        return _key(data, reference, f"Secret {namespace}/{reference['name']}")
    if reference := source.get("fieldRef"):
        return _field(pod, reference["fieldPath"])
    if reference := source.get("resourceFieldRef"):
        kind, _, resource = reference["resource"].partition(".")
        amount = Quantity.parse(container.get("resources", {}).get(kind, {}).get(resource, "0")).value
        divisor = Quantity.parse(reference.get("divisor", "1")).value or Decimal(1)  # unset is sent as "0"
        return str(int((amount / divisor).to_integral_value(ROUND_CEILING)))
    raise LoanRefusedError(f"variable {name}: the twin does not stand for {', '.join(source)}")


def _key(data: Mapping[str, bytes], reference: Mapping[str, Any], where: str) -> str | None:
    if reference["key"] in data:
        return data[reference["key"]].decode()
    if reference.get("optional"):
        return None
    raise NotYetError(f"{where} has no key {reference['key']}")


def _field(pod: Mapping[str, Any], path: str) -> str:
    simple = {
        "metadata.name": ("metadata", "name"),
        "metadata.namespace": ("metadata", "namespace"),
        "metadata.uid": ("metadata", "uid"),
        "spec.nodeName": ("spec", "nodeName"),
        "spec.serviceAccountName": ("spec", "serviceAccountName"),
        "status.podIP": ("status", "podIP"),
        "status.hostIP": ("status", "hostIP"),
    }
    if path in simple:
        part, key = simple[path]
        return pod[part].get(key, "")
    for kind in ("labels", "annotations"):
        if path.startswith(f"metadata.{kind}['") and path.endswith("']"):
            return (pod["metadata"].get(kind) or {}).get(path[len(f"metadata.{kind}['") : -2], "")
    raise LoanRefusedError(f"the twin does not stand for the field {path}")
