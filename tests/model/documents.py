"""A document to change, and what is found wrong with it."""

import copy
from collections.abc import Callable, Iterable
from typing import Any

import yaml

from model import document
from model.environment import Environment
from model.problems import Problem, spoken

TEXT = """
cluster: {name: atlas, provider: existing, kubernetes: "1.35", context: atlas}
pools:
  system: {shape: {cpu: 16, memory: 64Gi}, size: 3}
  train:
    server: dgx-h100
    size: 16
    labels: {team.example.com/tier: gold}
    taints: [{key: nvidia.com/gpu, value: "true", effect: NoSchedule}]
    domains: {spine: 2, rack: 4}
  serve:
    shape: {cpu: 64, memory: 512Gi, gpu: {model: a100-sxm-80gb, count: 4}}
    size: {min: 0, max: 8, desired: 2}
    sharing: {timeSlicing: {replicas: 4}}
    taints: [{key: team, value: serving, effect: NO_EXECUTE}]
topology:
  labels: [topology.example.com/spine, topology.example.com/rack]
queues:
  research:
    guarantee: {gpu: 16}
    deserved: {cpu: 2000, memory: 16Ti, gpu: 96}
    capability: {cpu: 3000, memory: 24Ti, gpu: 128, nvidia.com/gpu.shared: 64}
    queues:
      llm: {guarantee: {gpu: 16}, deserved: {gpu: 64}}
      vision: {deserved: {gpu: 32}, priority: 5}
  production:
    deserved: {gpu: 32, nvidia.com/gpu.shared: 64}
    capability: {gpu: 64, nvidia.com/gpu.shared: 128}
    reclaimable: false
tenants:
  research:
    namespaces: [research, research-dev]
    queues: [research]
    defaultQueue: research.llm
    quota: {gpu: 128, memory: 24Ti}
    groups: {admin: [leads], edit: [researchers]}
  production: {namespaces: [production], queues: [production], defaultQueue: production}
ray:
  clusters:
    tuning:
      namespace: research
      queue: research.llm
      pool: train
      ray: "2.52.0"
      head: {cpu: 8, memory: 32Gi}
      workers: {count: 4, cpu: 96, memory: 1Ti, gpus: 8}
      within: {level: rack}
    answers:
      namespace: production
      queue: production
      pool: serve
      ray: "2.52.0"
      image: registry.example.com/ray:2.52.0-py311-gpu
      head: {cpu: 4, memory: 16Gi}
      workers: {count: 6, cpu: 4, memory: 32Gi, gpus: 1}
releases:
  volcano: {version: 1.15.1, source: charts/volcano.tgz}
"""
"""A valid document without a warning that has something of everything."""

_EXAMPLE = yaml.safe_load(TEXT)

Change = Callable[[dict[str, Any]], object]


def example(*changes: Change) -> dict[str, Any]:
    """The document with some changes."""
    return changed(_EXAMPLE, *changes)


def changed(value: dict[str, Any], *changes: Change) -> dict[str, Any]:
    """A copy of a document's value with some changes."""
    value = copy.deepcopy(value)
    for change in changes:
        change(value)
    return value


def environment(*changes: Change) -> Environment:
    """The environment of the changed document, which must be valid."""
    return document.load(example(*changes))


Steps = str | tuple[str | int, ...]
"""A place in a document: dotted (`pools.train.taints.0`), or a tuple where a key has dots itself."""


def _holder(value: Any, path: Steps) -> tuple[Any, Any]:
    steps: list[Any] = list(path)
    if isinstance(path, str):
        steps = [int(step) if step.isdecimal() else step for step in path.split(".")]
    for step in steps[:-1]:
        value = value[step] if isinstance(value, list) else value.setdefault(step, {})
    return value, steps[-1]


def put(path: Steps, new: Any) -> Change:
    """The change that puts a value at a place."""

    def change(value: Any) -> None:
        holder, last = _holder(value, path)
        holder[last] = copy.deepcopy(new)  # later changes may go into it

    return change


def add(path: Steps, new: Any) -> Change:
    """The change that adds to a list."""

    def change(value: Any) -> None:
        holder, last = _holder(value, path)
        holder.setdefault(last, []).append(new)

    return change


def drop(path: Steps) -> Change:
    """The change that takes out what stands at a place."""

    def change(value: Any) -> None:
        holder, last = _holder(value, path)
        holder.pop(last)

    return change


def rename(path: Steps, new: str) -> Change:
    """The change that gives the key at a place another name."""

    def change(value: Any) -> None:
        holder, last = _holder(value, path)
        holder[new] = holder.pop(last)

    return change


SPOT: list[Change] = [
    put("cluster", {"name": "atlas", "provider": "aws", "kubernetes": "1.35", "zones": ["us-east-2a", "us-east-2b"]}),
    put("pools.train", {"instance": "p5.48xlarge", "size": 16, "capacity": {"kind": "spot"}}),
    put("pools.system", {"instance": "m7i.2xlarge", "size": 3}),
    drop("pools.serve"),
    drop("topology"),
    put("ray", {}),
    put("queues", {"research": {}}),
    put("tenants", {"research": {"namespaces": ["research"], "queues": ["research"]}}),
]
"""Changes after which pool `train` is spot capacity on AWS, nothing runs and `research` is a queue of its own."""


def as_ray(kind: str) -> Change:
    """The change that makes the cluster `tuning` one of `ray.clusters`, `ray.jobs` or `ray.services`, called `it`."""
    more: dict[str, Any] = {
        "jobs": {"entrypoint": "python sweep.py"},
        "services": {"serve": {"applications": [{"import_path": "app:model"}]}},
    }

    def change(value: dict[str, Any]) -> None:
        cluster = value["ray"]["clusters"].pop("tuning")
        value["ray"].setdefault(kind, {})["it"] = {**cluster, **more.get(kind, {})}

    return change


def problems(*changes: Change) -> list[Problem]:
    """Everything found in the changed document."""
    return list(document.judge(example(*changes)).problems)


def errors(*changes: Change) -> dict[str, Problem]:
    """The errors of the changed document by their path (without the root's name)."""
    return by_path(problem for problem in problems(*changes) if problem.severity == "error")


def warnings(*changes: Change) -> dict[str, Problem]:
    """The warnings of the changed document by their path (without the root's name)."""
    return by_path(problem for problem in problems(*changes) if problem.severity == "warning")


def by_path(found: Iterable[Problem]) -> dict[str, Problem]:
    """Problems by their path (without the root's name); two at one place are a mistake."""
    named: dict[str, Problem] = {}
    for problem in found:
        path = spoken(problem.path).removeprefix("environment").lstrip(".")
        assert path not in named, (named[path], problem)
        named[path] = problem
    return named


def only(found: dict[str, Problem]) -> tuple[str, Problem]:
    """The one problem there is."""
    assert len(found) == 1, found
    return next(iter(found.items()))


def small(**parts: Any) -> dict[str, Any]:
    """A document of a cluster, one pool and these parts."""
    cluster = {"name": "atlas", "provider": "existing", "kubernetes": "1.35", "context": "atlas"}
    return {"cluster": cluster, "pools": {"train": {"server": "dgx-h100", "size": 2}}, **parts}
