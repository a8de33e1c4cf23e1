"""The twin as the command line uses it: tools, control plane, nodes and the engine's own house, made ready in order."""

from pathlib import Path
from typing import Any

import yaml

from model import aws, document, operators
from model.engine_names import DOCUMENT_KEY
from model.environment import Environment
from model.offers import node_offers
from twin import host, tools
from twin.cluster import Twin
from twin.paths import CONTEXT

from . import cloud, environments, recovery
from .engine import Engine
from .environments import ROOT
from .output import console
from .refusals import RefusedError

STATE = ROOT / ".twin"
SOURCES = {
    "volcano": "volcano-chart",
    "kuberay": "kuberay-operator",
    "node-feature-discovery": "node-feature-discovery",
    "prometheus-operator-crds": "prometheus-operator",
    "karpenter": "karpenter-chart",
}
"""Upstream charts and manifests by product. The twin keeps them in `.twin/sources/<name>`."""
KUEUE_SOURCES = {"kueue": "kueue-chart", "jobset": "jobset-chart"}
"""The same of environments whose scheduler is Kueue."""
VERSIONS = {"prometheus-operator-crds": "0.85.0"}
"""What the twin's sources hold where that is not the catalogue's release: no newer one is had as a Go module."""


def lives_in_twin(environment: Environment) -> bool:
    """Whether an environment's cluster is the twin of this checkout."""
    return environment.cluster.context == CONTEXT


def _sources(scheduler: str) -> dict[str, str]:
    return SOURCES | (KUEUE_SOURCES if scheduler == "kueue" else {})


def programs(scheduler: str = "volcano") -> dict[str, Path]:
    """Give every program that the twin runs; what is missing is fetched or built, with progress.

    Args:
        scheduler: The kind of scheduler that shall be up on it: what others need beside is not had.

    Raises:
        ToolError: A tool cannot be had; the text says which way failed and what to do.
    """
    wanted = (*tools.used_by("twin"), *(tools.used_by("kueue") if scheduler == "kueue" else ()))
    with tools.shown_on(console) as progress:
        found = tools.ensure(wanted, progress)
        for name in _sources(scheduler).values():
            tools.materialise(name, STATE / "sources", progress)
        return found | _language_host(found["pulumi"], progress)


def test_programs() -> None:
    """Have the programs that only tests need.

    Raises:
        ToolError: A tool cannot be had; the text says which way failed and what to do.
    """
    with tools.shown_on(console) as progress:
        tools.ensure(tools.used_by("tests"), progress)


def _language_host(pulumi: Path, progress: tools.Progress | None = None) -> dict[str, Path]:
    """Give what the engine needs beside itself to run Python, where no official language host is."""
    return {str(folder): folder / host.NAME for folder in host.folders_for_path(pulumi, progress)}


def borrowed_config(name: str) -> Path:
    """Write the stack file of an environment that was written for another cluster, as the twin needs it.

    It has the same document but for the kubeconfig context and the sources of upstream releases, and none of the
    other settings: a secrets provider or a region is the real cluster's. What a cluster of the twin's cloud holds may
    go with it. The environment's own file stays as it is.
    """
    value = dict(document.read(environments.file(name)).value)
    if value["cluster"].get("provider") == "aws":
        value["data"] = "delete"
    else:
        value["cluster"] = value["cluster"] | {"context": CONTEXT}
    upstream = _sources((value.get("scheduler") or {}).get("kind", "volcano"))
    lent = {product: {"source": f".twin/sources/{source}"} for product, source in upstream.items()}
    for product, version in VERSIONS.items():
        lent[product]["version"] = version
    value["releases"] = (value.get("releases") or {}) | lent
    _without_operator(value)
    config = {"pulumi:disable-default-providers": ["aws", "kubernetes"], DOCUMENT_KEY: value}
    file = STATE / "stacks" / f"Pulumi.{name}.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    kept = yaml.safe_load(file.read_text()) if file.exists() else {}
    salt = {key: kept[key] for key in ("encryptionsalt",) if key in kept}
    file.write_text(yaml.safe_dump({"config": config, **salt}, sort_keys=False))
    # `stack init` writes the salt beside the project file, and has no option for another stack file.
    (file.parent / "Pulumi.yaml").write_text("name: gangline\nruntime: python\n")
    return file


def _without_operator(value: dict[str, Any]) -> None:
    """Have the definitions of the Prometheus Operator made: the twin has none that brings them."""
    monitoring = value.get("monitoring") or {}
    prometheus = monitoring.get("prometheus") or {}
    if prometheus != "none":
        made = {**prometheus, "definitions": "install"}
        value["monitoring"] = {**monitoring, "prometheus": made}


def twin() -> Twin:
    """Give the twin of this checkout as it is, running or not."""
    here = tools.here((*tools.used_by("twin"), *tools.used_by("kueue")))
    return Twin(STATE, here | (_language_host(here["pulumi"]) if "pulumi" in here else {}))


def ready(stack: str, environment: Environment, config: Path | None = None) -> Engine:
    """Start the twin, unless it runs, give it the nodes of a document, and give the engine that works on it.

    A lock or a half-made release that a killed run of this checkout left behind is cleared. The twin holds one
    environment at a time: it is one cluster, and has the nodes, charts and namespaces of one document.

    Args:
        stack: The stack's name, which is the environment's.
        environment: Its document.
        config: The stack file, where it is not the usual one.

    Raises:
        RefusedError: The environment runs operators, which bring drivers to nodes that have none here; or another
            environment is up on the twin.
    """
    if operators.products(environment):
        raise RefusedError(
            f"environment {stack}: devices.install: operator does not run on the twin, whose nodes take no drivers\n"
            f"  allowed: ./gangline render {stack}        fix: devices: {{install: plugins}}"
        )
    local = Twin(STATE, programs(environment.scheduler.kind))
    _refuse_company(recovery.saved_state(Engine.of_twin(local.environment()), stack))
    _start(local, environment)
    engine = Engine.of_twin(local.environment())  # which has the cloud by now
    recovery.end_orphans(engine.settings)
    if recovery.saved_state(engine, stack).exists():
        recovery.recover(engine, stack, local.client())
    else:
        engine.read("stack", "init", "--stack", stack, *(["--cwd", str(config.parent)] if config else []))
    if aws.here(environment) and local.cloud:
        cloud.prepare(engine, stack, environment, local.cloud, config)
    return engine


def _refuse_company(saved: Path) -> None:
    for file in sorted(saved.parent.glob("*.json")):
        if file != saved and recovery.holds_resources(file):
            raise RefusedError(
                f"environment {saved.stem}: the twin holds one environment at a time, and {file.stem} is up on it\n"
                f"  fix: ./gangline destroy {file.stem} --twin first, or name {file.stem} in this command"
            )


def _start(local: Twin, environment: Environment) -> None:
    started = local.start(lambda line: console.print(f"[dim]twin: {line}[/]"), cloud=aws.here(environment))
    for note in started.notes:
        console.print(f"twin: {note}")
    state = "runs already" if started.already else f"started in {started.seconds:.1f} s"
    if aws.here(environment):
        declared = environment.model_dump(mode="json", by_alias=True, exclude_unset=True)
        count = local.follow(aws.region(environment), declared)
        console.print(f"twin: {state}; AWS is moto at {local.cloud}; nodes follow the node groups, {count} now")
        return
    changes = local.apply_nodes(node_offers(environment))
    counts = {"created": changes.created, "updated": changes.updated, "deleted": changes.deleted}
    changed = ", ".join(f"{len(names)} {what}" for what, names in counts.items() if names) or "as the document says"
    console.print(f"twin: {state}; nodes {changed}")
