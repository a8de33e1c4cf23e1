"""Certificates, keys and kubeconfigs of the twin's own cluster. They are good for nothing else."""

import base64
import secrets
import shutil
import tempfile
from pathlib import Path
from typing import Any

import trustme
import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from twin.paths import CONTEXT

SERVICE_ADDRESS = "10.96.0.1"  # the first of the service range: `kubernetes.default.svc`
SERVER_NAMES = (
    "127.0.0.1",
    "localhost",
    SERVICE_ADDRESS,
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)
# Client certificates: file name, user, group (Kubernetes reads CN and O).
CLIENTS = {
    "admin": ("gangline-admin", "system:masters"),
    "lender": ("gangline-lender", "system:masters"),
    "kwok": ("gangline-kwok", "system:masters"),
    "controller-manager": ("system:kube-controller-manager", "system:kube-controller-manager"),
    "scheduler": ("system:kube-scheduler", "system:kube-scheduler"),
    "etcd-client": ("kube-apiserver", "gangline"),
    "front-proxy": ("front-proxy-client", "gangline"),
}
TOKENS = "tokens.csv"
"""Tokens that the API server knows, as its `--token-auth-file` has them: one, an administrator's, for those who come
with a token instead of a certificate, as the clients of EKS do."""
FILES = (
    TOKENS,
    "ca.crt",
    "ca.key",
    "service-accounts.key",
    "service-accounts.pub",
    *(f"{name}.{kind}" for name in ("server", *CLIENTS) for kind in ("crt", "key")),
)


def missing(directory: Path) -> list[str]:
    """Name the files that are not there."""
    return [name for name in FILES if not (directory / name).is_file()]


def ensure(directory: Path) -> bool:
    """Make the certificates, unless a whole set is there.

    Args:
        directory: Where they go. It appears as a whole or not at all.

    Returns:
        Whether new ones were made: what was signed with older ones is void then.
    """
    if not missing(directory):
        return False
    fresh = Path(tempfile.mkdtemp(dir=directory.parent, prefix=".pki."))
    try:
        _issue(fresh)
        shutil.rmtree(directory, ignore_errors=True)
        fresh.rename(directory)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    return True


def _issue(directory: Path) -> None:
    authority = trustme.CA(organization_name="gangline", organization_unit_name="twin")
    contents = {"ca.crt": authority.cert_pem.bytes(), "ca.key": authority.private_key_pem.bytes()}
    leaves = {"server": authority.issue_cert(*SERVER_NAMES, common_name="gangline-twin")}
    for name, (user, group) in CLIENTS.items():
        # Go refuses a certificate with an empty list of names, hence the address.
        leaves[name] = authority.issue_cert("127.0.0.1", common_name=user, organization_name=group)
    for name, leaf in leaves.items():
        contents[f"{name}.crt"] = b"".join(blob.bytes() for blob in leaf.cert_chain_pems)
        contents[f"{name}.key"] = leaf.private_key_pem.bytes()
    signing = ec.generate_private_key(ec.SECP256R1())
    contents["service-accounts.key"] = signing.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    contents["service-accounts.pub"] = signing.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    user, group = CLIENTS["admin"]
    contents[TOKENS] = f"{secrets.token_urlsafe(32)},{user},{user},{group}\n".encode()
    for name, content in contents.items():
        path = directory / name
        path.touch(mode=0o600)
        path.write_bytes(content)


def kubeconfig(pki: Path, client: str, server: str) -> str:
    """Give a kubeconfig that authenticates by client certificate, certificates included.

    Args:
        pki: The directory of certificates.
        client: A key of `CLIENTS`.
        server: URL of the API server.
    """
    return document(
        server,
        (pki / "ca.crt").read_bytes(),
        {
            "client-certificate-data": _base64(pki / f"{client}.crt"),
            "client-key-data": _base64(pki / f"{client}.key"),
        },
    )


def document(server: str, authority: bytes, user: dict[str, Any], namespace: str = "default") -> str:
    """Give a kubeconfig document with one context, `gangline-twin`.

    Args:
        server: URL of the API server.
        authority: Certificate that signs the API server's.
        user: How to authenticate, in the kubeconfig's own words.
        namespace: The context's namespace.
    """
    cluster = {"server": server, "certificate-authority-data": base64.b64encode(authority).decode()}
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": CONTEXT, "cluster": cluster}],
            "users": [{"name": CONTEXT, "user": user}],
            "contexts": [{"name": CONTEXT, "context": {"cluster": CONTEXT, "user": CONTEXT, "namespace": namespace}}],
            "current-context": CONTEXT,
        },
        sort_keys=False,
    )


def _base64(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()
