"""How the twin runs its cloud, and the environment in which a program meets it instead of AWS."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import httpx2

from twin.aws.names import AUTHORITY, ENDPOINT, JOURNAL, TOKENS, VARIABLE
from twin.keeper import Program
from twin.paths import CHECKOUT

CLOUD, FOLLOWER = "aws", "aws-nodes"
"""Names of the processes: the cloud, and what makes nodes of its node groups."""
STAND_INS = CHECKOUT / "twin" / "aws" / "bin"
PREFIX = "AWS_"
"""What the names of variables begin with that a program on the twin's cloud must not inherit: they lead to AWS."""


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
        name=CLOUD,
        program=Path(sys.executable),
        arguments=("-m", "twin.aws.server", str(port)),
        environment={"PYTHONPATH": str(CHECKOUT), ENDPOINT: endpoint, AUTHORITY: str(authority)},
    )


def follower(root: Path, port: int) -> Program:
    """Give what makes nodes of node groups as a process for the keeper.

    Args:
        root: The state directory.
        port: Where the cloud listens.
    """
    return Program(
        name=FOLLOWER,
        program=Path(sys.executable),
        arguments=("-m", "twin.aws.following", str(root), address(port)),
        environment={"PYTHONPATH": str(CHECKOUT), "PYTHONUNBUFFERED": "1"},
    )


def made(port: int) -> int:
    """Give how many resources the engine has in the cloud.

    Raises:
        httpx2.HTTPError: Nothing answers there.
    """
    # Loopback is asked directly: a proxy of the environment would look for it on its own machine.
    return len(httpx2.get(f"{address(port)}{JOURNAL}", timeout=5, trust_env=False).raise_for_status().json())


def variables(port: int, tokens: Path, base: Mapping[str, str]) -> dict[str, str]:
    """Give the environment variables, and PATH, for a program that shall meet the twin's cloud.

    The stand-ins come first on PATH: an official AWS provider would reach for AWS itself. Should anything else do so,
    it finds no credentials. Whoever uses this takes all other variables that begin with `PREFIX` away.

    Args:
        port: Where the cloud listens.
        tokens: The file of the tokens that the twin's API server knows.
        base: The environment so far.
    """
    search = [entry for entry in base.get("PATH", os.defpath).split(os.pathsep) if entry != str(STAND_INS)]
    return {
        VARIABLE: address(port),
        TOKENS: str(tokens),
        "PATH": os.pathsep.join([str(STAND_INS), *search]),
        "AWS_ENDPOINT_URL": address(port),
        "AWS_ACCESS_KEY_ID": "twin",
        "AWS_SECRET_ACCESS_KEY": "twin",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }
