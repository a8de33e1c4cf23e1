"""The role that CI takes to bring clusters up: who may take it."""

from typing import Any

from .statements import policy

ISSUER = "token.actions.githubusercontent.com"
"""Who signs the tokens of GitHub Actions, without `https://`."""
AUDIENCE = "sts.amazonaws.com"
"""Whom those tokens are for."""


def trust(provider: str, repository: str, branch: str) -> dict[str, Any]:
    """Who may take the role: runs of one branch of one repository.

    A pull request has another subject (`repo:…:pull_request`), wherever it comes from, and so has any other branch
    (https://docs.github.com/en/actions/reference/security/oidc). Repositories made, renamed or moved since 15 July 2026
    name owner and repository with their numbers there: `owner@1/name@2`.

    Args:
        provider: ARN of the identity provider.
        repository: The repository as its tokens name it.
        branch: The branch.
    """
    wanted = {f"{ISSUER}:aud": AUDIENCE, f"{ISSUER}:sub": f"repo:{repository}:ref:refs/heads/{branch}"}
    statement = {
        "Sid": "Branch",
        "Effect": "Allow",
        "Principal": {"Federated": provider},
        "Action": "sts:AssumeRoleWithWebIdentity",
        "Condition": {"StringEquals": wanted},
    }
    return policy([statement])
