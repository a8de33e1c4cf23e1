"""Scripts inside lent images that charts run as Jobs: done here in Python, with their own arguments."""

import argparse
from collections.abc import Awaitable, Callable, Sequence

import trustme
from lightkube import AsyncClient
from lightkube.core.exceptions import ApiError
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Secret
from lightkube.types import PatchType


async def make_admission_secret(client: AsyncClient, arguments: Sequence[str]) -> str:
    """Do what Volcano's gen-admission-secret.sh does: a new authority, a certificate for a Service, both in a Secret.

    Source: installer/dockerfile/webhook-manager/gen-admission-secret.sh of Volcano 1.15.1. It uses openssl and kubectl.

    Args:
        client: Acts as the Job's own service account, so that its rights are tried.
        arguments: The script's: `--service`, `--namespace`, `--secret`.

    Returns:
        What was done, for the log.
    """
    parser = argparse.ArgumentParser(exit_on_error=False)
    parser.add_argument("--service", required=True)
    parser.add_argument("--namespace", default="default")
    parser.add_argument("--secret", required=True)
    given = parser.parse_args(list(arguments))
    names = (given.service, f"{given.service}.{given.namespace}", f"{given.service}.{given.namespace}.svc")
    authority = trustme.CA(organization_name="gangline", organization_unit_name=names[-1])
    leaf = authority.issue_cert(*names, common_name=names[-1])
    content = {
        "tls.key": leaf.private_key_pem.bytes().decode(),
        "tls.crt": b"".join(blob.bytes() for blob in leaf.cert_chain_pems).decode(),
        "ca.crt": authority.cert_pem.bytes().decode(),
    }
    where = f"secret {given.namespace}/{given.secret} for {names[-1]}"
    try:
        secret = Secret(metadata=ObjectMeta(name=given.secret, namespace=given.namespace), stringData=content)
        await client.create(secret)
    except ApiError as error:
        if error.status.code != 409:
            raise
        await client.patch(
            Secret, given.secret, {"stringData": content}, namespace=given.namespace, patch_type=PatchType.MERGE
        )
        return f"renewed {where}"
    return f"made {where}"


SCRIPTS: dict[str, Callable[[AsyncClient, Sequence[str]], Awaitable[str]]] = {
    "gen-admission-secret.sh": make_admission_secret,
}
