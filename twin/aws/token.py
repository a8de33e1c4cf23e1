"""`aws eks get-token` on the twin: gives a token of the twin's API server to who connects to an EKS cluster.

All else is refused. It is run by file for each connection, so it imports little.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

TOKENS = "GANGLINE_TWIN_TOKENS"
EXEC_INFO = "KUBERNETES_EXEC_INFO"
LATEST = "client.authentication.k8s.io/v1beta1"


def credential(tokens: str, version: str) -> dict[str, Any]:
    """Give the credential as client-go wants it from a plugin (ExecCredential of client.authentication.k8s.io).

    Args:
        tokens: The text of the API server's file of tokens.
        version: The version of that kind which the client speaks.
    """
    token = tokens.partition(",")[0]
    return {"apiVersion": version, "kind": "ExecCredential", "spec": {}, "status": {"token": token}}


def main() -> None:
    """Answer `aws [--region R] eks get-token --cluster-name N [--output json]`."""
    words = sys.argv[1:]
    if "eks" not in words or "get-token" not in words:
        sys.exit(
            "aws: this is the stand-in of gangline's twin: it knows `eks get-token` only.\n"
            "The cloud of the twin answers the real AWS command line at $AWS_ENDPOINT_URL."
        )
    path = os.environ.get(TOKENS)
    if not path:
        sys.exit(f"aws: this is the stand-in of gangline's twin, and no twin asked for it ({TOKENS} is not set)")
    version = json.loads(os.environ.get(EXEC_INFO) or "{}").get("apiVersion", LATEST)
    print(json.dumps(credential(Path(path).read_text(), version)))


if __name__ == "__main__":
    main()
