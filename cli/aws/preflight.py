"""What an AWS account would refuse of an environment, found before anything is made in it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cli import environments
from cli.output import console, errors
from cli.tables import table
from model import aws, document, problems
from model.aws import account as rules
from model.aws import addons, quotas, region
from model.aws.answers import Answers, Unknown, known
from model.aws.shape import written

from .account import Account
from .questions import ask

if TYPE_CHECKING:
    from collections.abc import Mapping

    from model.environment import Environment


def account_of(env: "Environment", twin: "Mapping[str, str] | None" = None) -> Account:
    """Give the account in which an environment would be made.

    Args:
        env: Its document.
        twin: The twin's environment variables, where it is the twin's cloud.

    Raises:
        RefusedError: The twin has no cloud now, or the account is the user's and this shell has the twin's settings.
    """
    return Account.of_user(region(env)) if twin is None else Account.of_twin(twin, region(env))


def look_ahead(name: str, env: "Environment", twin: "Mapping[str, str] | None", *, refuse: bool) -> None:
    """Find what an account would refuse of an environment on AWS; on an existing cluster there is nothing to find.

    Args:
        name: Name of the environment.
        env: Its checked document.
        twin: The twin's environment variables, where it is the twin's cloud.
        refuse: Whether errors end the run; they are shown in any case.

    Raises:
        DocumentError: With everything that the account lacks.
        RefusedError: The account cannot be asked at all.
    """
    if aws.here(env):
        account = account_of(env, twin)
        _judge(name, env, account, ask(account, env), refuse=refuse)


def examine(name: str, env: "Environment", twin: "Mapping[str, str] | None") -> None:
    """Show what an account says to all that an environment on AWS wants of it, and what it lacks.

    Args:
        name: Name of the environment.
        env: Its checked document.
        twin: The twin's environment variables, where it is the twin's cloud.

    Raises:
        DocumentError: With everything that the account lacks.
        RefusedError: The account cannot be asked at all.
    """
    account = account_of(env, twin)
    answers = ask(account, env)
    _tell(env, account, answers)
    _judge(name, env, account, answers, refuse=True)


def _judge(name: str, env: "Environment", account: Account, answers: Answers, *, refuse: bool) -> None:
    read = document.read(environments.file(name))
    found = sorted(rules.problems(env, answers), key=lambda each: read.positions.line(each.path) or 0)
    if refuse and any(each.severity == "error" for each in found):
        raise problems.DocumentError(found, read.file, read.positions)
    if found:
        errors.print(problems.render(found, read.file, read.positions), markup=False, soft_wrap=True)
    result = "see above" if found else "it has all that the document wants"
    console.print(f"account {account.identity} in {account.region}: {result}", markup=False)


def _tell(env: "Environment", account: Account, answers: Answers) -> None:
    grid = table("asked", "found")
    grid.add_row("account", f"{account.identity}, as {account.caller}")
    for asked, found in _rows(env, answers):
        grid.add_row(asked, found)
    console.print(grid)


def _rows(env: "Environment", answers: Answers) -> Iterator[tuple[str, str]]:
    yield from _region_rows(env, answers)
    yield from _account_rows(env, answers)


def _region_rows(env: "Environment", answers: Answers) -> Iterator[tuple[str, str]]:
    """What the region offers to everybody."""
    zones, offerings = known(answers.zones), known(answers.offerings)
    if zones is not None:
        for name in env.cluster.zones:
            there = zones.get(name)
            yield (
                f"zone {name}",
                "is not there" if there is None else f"{there.identity}{'' if there.usable else ', closed'}",
            )
    versions = known(answers.versions)
    if versions is not None:
        yield f"Kubernetes {env.cluster.kubernetes}", versions.get(env.cluster.kubernetes, "is not offered")
    if offerings is not None:
        for instance in sorted({pool.instance for pool in env.pools.values() if pool.instance}):
            yield instance, ", ".join(sorted(offerings.get(instance, ()))) or "is not offered in this region"
    offered = known(answers.addons)
    for addon in (*addons.before_nodes(env), *addons.after_nodes(env)) if offered is not None else ():
        there = addon.version in (offered or {}).get(addon.name, ())
        yield f"add-on {addon.name} {addon.version}", "is offered" if there else "is not offered"


def _account_rows(env: "Environment", answers: Answers) -> Iterator[tuple[str, str]]:
    """What the account has of its own."""
    for quota in quotas.asked(env):
        granted = answers.quotas.get(quota.code)
        if granted is not None and not isinstance(granted, Unknown):
            yield f"quota {quota.name}", f"{granted} vCPUs"
    reservations = known(answers.reservations)
    for name in sorted({pool.capacity.reservation for pool in env.pools.values() if pool.capacity.reservation}):
        there = reservations.get(name) if reservations is not None else None
        if there is not None:
            ends = f" until {written(there.ends)}" if there.ends else ""
            yield name, f"{there.state}: {there.total} {there.instance} in {there.zone}{ends}, {there.available} free"
    for name, subnet in sorted((known(answers.subnets) or {}).items()):
        yield name, f"{subnet.zone}, {subnet.free} free addresses"
