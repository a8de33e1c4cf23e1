"""How the twin runs its cloud, and the environment in which a program meets it instead of AWS."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from twin.aws.names import AUTHORITY, ENDPOINT, KUBECONFIG, VARIABLE
from twin.keeper import Program
from twin.paths import CHECKOUT

NAME = "aws"
STAND_INS = CHECKOUT / "twin" / "aws" / "bin"
HIDDEN = ("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_SESSION_TOKEN", "AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE")
"""Variables that a program on the twin's cloud must not see: they say who somebody is at AWS."""


def address(port: int) -> str:
    """Give the address of the cloud."""
    return f"http://127.0.0.1:{port}"


def program(port: int, endpoint: str, authority: Path) -> Program:
    """Give the cloud as a process for the keeper.

    Args:
        port: Where it listens.
        endpoint: The twin's API server: the end point of every EKS cluster.
        authority: The certificate of its authority.
    """
    return Program(
        name=NAME,
        program=Path(sys.executable),
        arguments=("-m", "twin.aws.server", str(port)),
        environment={"PYTHONPATH": str(CHECKOUT), ENDPOINT: endpoint, AUTHORITY: str(authority)},
    )


def variables(port: int, kubeconfig: Path, base: Mapping[str, str]) -> dict[str, str]:
    """Give the environment variables, and PATH, for a program that shall meet the twin's cloud.

    The stand-ins come first on PATH: an official AWS provider would reach for AWS itself. Should anything else do so,
    it finds no credentials. Whoever uses this takes the variables of `HIDDEN` away.

    Args:
        port: Where the cloud listens.
        kubeconfig: The twin's own, for the tokens of EKS clusters.
        base: The environment so far.
    """
    return {
        VARIABLE: address(port),
        KUBECONFIG: str(kubeconfig),
        "PATH": os.pathsep.join([str(STAND_INS), base.get("PATH", os.defpath)]),
        "AWS_ENDPOINT_URL": address(port),
        "AWS_ACCESS_KEY_ID": "twin",
        "AWS_SECRET_ACCESS_KEY": "twin",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }
