"""`init aws`: makes what a team needs once in an account, after it has shown what that is."""

import re
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import console
from cli.refusals import RefusedError
from model.aws.ci_permissions import ROLES

from .account import Account, refusing

if TYPE_CHECKING:
    from .bootstrap import Names

app = typer.Typer(help="What a team needs once, before its first environment.", no_args_is_help=True)

# The role of CI may change roles whose names begin as those of a stack do: its own must not.
_NAME = re.compile(rf"(?!{ROLES}|{ROLES[:-1]}$)[a-z][a-z0-9-]{{0,18}}[a-z0-9]")
_REGION = re.compile(r"[a-z]{2,4}(-[a-z]+)+-[0-9]")
_PART = r"[A-Za-z0-9._-]+"
_REPOSITORY = re.compile(rf"{_PART}/{_PART}|{_PART}@[0-9]+/{_PART}@[0-9]+")
_BRANCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*")


@app.callback()
def _group() -> None:
    """Keep `aws` a command of its own: with a single one typer would leave its name out."""


@app.command()
def aws(
    region: Annotated[
        str,
        typer.Option(help="The region of the clusters.", envvar=["AWS_REGION", "AWS_DEFAULT_REGION"], show_envvar=True),
    ],
    repository: Annotated[
        str | None,
        typer.Option(
            metavar="OWNER/NAME",
            help="The GitHub repository whose CI brings clusters up; OWNER@1/NAME@2 where its tokens have numbers. "
            "Without it, no role is made.",
        ),
    ] = None,
    branch: Annotated[str, typer.Option(help="The branch whose runs may; no pull request may.")] = "main",
    name: Annotated[str, typer.Option(help="What the names of all that is made begin with.")] = "gangline",
    twin: Annotated[bool, typer.Option("--twin", help="In the twin's cloud, which must run.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before making anything.")] = False,
) -> None:
    """Make what a team needs once in an AWS account: a bucket for Pulumi's states, a key, and a role for CI.

    Shows what is there and what would be done, asks, and does it. Run again it repairs what has changed.
    """
    _refuse_misspelt(region, repository, branch, name)
    account = _account(region, twin=twin)
    from .bootstrap import Names

    names = Names(name, account.identity, region, account.partition, repository, branch)
    count = _show(account, names)
    if count:
        _agree(yes)
        _make(account, names)
    _show_next(names)


def _refuse_misspelt(region: str, repository: str | None, branch: str, name: str) -> None:
    for option, value, form, allowed in (
        ("--region", region, _REGION, "such as us-east-2"),
        ("--repository", repository, _REPOSITORY, "such as acme/clusters, or acme@123/clusters@456"),
        ("--branch", branch, _BRANCH, "such as main"),
        ("--name", name, _NAME, f"2 to 20 lower-case letters, digits and -, and none that begins with {ROLES}"),
    ):
        if value is not None and not form.fullmatch(value):
            raise RefusedError(f"{option} {value}: is none\n  allowed: {allowed}")


def _account(region: str, *, twin: bool) -> Account:
    if not twin:
        return Account.of_user(region)
    from cli import local

    return Account.of_twin(local.twin().environment(), region)


def _show(account: Account, names: "Names") -> int:
    """Show each part, and give the number of things to be done."""
    from .bootstrap import parts

    console.print(f"account {names.account} in {names.region}, as {account.caller}", markup=False)
    count = 0
    for what, changes in parts(account, names):
        with refusing(what):
            found = list(changes())
        count += len(found)
        console.print(f"  {what}" + ("" if found else ": as it should be"), markup=False)
        for change in found:
            console.print(f"    {change.text}", markup=False)
    return count


def _agree(yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise RefusedError("init aws: would ask before making anything, but there is no terminal\n  fix: --yes")
    if not typer.confirm("Do this?"):
        raise RefusedError("init aws: nothing was made")


def _make(account: Account, names: "Names") -> None:
    from .bootstrap import parts

    for what, changes in parts(account, names):
        with refusing(what):
            for change in changes():
                with refusing(f"{what}: {change.text}"):
                    change.do()
                console.print(f"  {what}: {change.text}: done", markup=False)


def _show_next(names: "Names") -> None:
    console.print("Next:")
    console.print(f"  pulumi login '{names.login}'", markup=False, soft_wrap=True)
    console.print(
        f"  pulumi stack init ENV --secrets-provider '{names.secrets_provider}'", markup=False, soft_wrap=True
    )
    if names.repository:
        console.print(f"CI takes {names.role_arn}.", markup=False, soft_wrap=True)
