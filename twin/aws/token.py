"""`aws eks get-token` on the twin: gives the certificate of the twin's kubeconfig to who connects to an EKS cluster.

All else is refused. It is run by file for each connection, so it imports little.
"""

import base64
import json
import os
import sys
from pathlib import Path
from typing import Any

KUBECONFIG = "GANGLINE_TWIN_KUBECONFIG"
EXEC_INFO = "KUBERNETES_EXEC_INFO"
LATEST = "client.authentication.k8s.io/v1beta1"


def credential(kubeconfig: dict[str, Any], version: str) -> dict[str, Any]:
    """Give the credential as client-go wants it from a plugin (ExecCredential of client.authentication.k8s.io)."""
    user = kubeconfig["users"][0]["user"]

    def part(name: str) -> str:
        if f"{name}-data" in user:
            return base64.b64decode(user[f"{name}-data"]).decode()
        return Path(user[name]).read_text()

    return {
        "apiVersion": version,
        "kind": "ExecCredential",
        "spec": {},
        "status": {
            "clientCertificateData": part("client-certificate"),
            "clientKeyData": part("client-key"),
        },
    }


def main() -> None:
    """Answer `aws [--region R] eks get-token --cluster-name N [--output json]`."""
    words = sys.argv[1:]
    if "eks" not in words or "get-token" not in words:
        sys.exit(
            "aws: this is the stand-in of gangline's twin: it knows `eks get-token` only.\n"
            "The cloud of the twin answers the real AWS command line at $AWS_ENDPOINT_URL."
        )
    path = os.environ.get(KUBECONFIG)
    if not path:
        sys.exit(f"aws: this is the stand-in of gangline's twin, and no twin asked for it ({KUBECONFIG} is not set)")
    import yaml

    version = json.loads(os.environ.get(EXEC_INFO) or "{}").get("apiVersion", LATEST)
    print(json.dumps(credential(yaml.safe_load(Path(path).read_text()), version)))


if __name__ == "__main__":
    main()
