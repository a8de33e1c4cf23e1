"""A document with a contract about checkpoints, to change."""

from typing import Any

import yaml

from model import document
from model.environment import Environment
from model.problems import Problem
from tests.model.documents import Change, by_path, changed

TEXT = """
cluster: {name: atlas, provider: aws, kubernetes: "1.35", zones: [us-east-2a, us-east-2b]}
pools:
  system: {instance: m7i.2xlarge, size: 3}
  train: {instance: p5en.48xlarge, size: 16, zone: us-east-2a, fabric: efa}
storage:
  scratch: {kind: nvme, write: 5G}
  shared: {kind: lustre, size: 38400Gi, throughput: 125}
  archive: {kind: s3, write: 2G}
  checkpoints:
    {write: scratch, keep: shared, archive: archive, every: 15m, retain: 5,
     largest: {size: 1200G, pool: train, nodes: 8}}
"""
"""Scratch: 8 nodes x 5 GB/s. Shared: 37.5 TiB x 125 MB/s = 4.6875 GB/s. A node of this type has 8 disks of 3800 GB."""

VALUE: dict[str, Any] = yaml.safe_load(TEXT)
AT = "storage.checkpoints"


def environment(*changes: Change) -> Environment:
    """The environment of the changed document, which must be valid."""
    return document.load(changed(VALUE, *changes))


def problems(*changes: Change) -> list[Problem]:
    """Everything found in it."""
    return list(document.judge(changed(VALUE, *changes)).problems)


def errors(*changes: Change) -> dict[str, Problem]:
    """Its errors by their path below the contract."""
    return _below(problem for problem in problems(*changes) if problem.severity == "error")


def warnings(*changes: Change) -> dict[str, Problem]:
    """Its warnings by their path."""
    return by_path(problem for problem in problems(*changes) if problem.severity == "warning")


def _below(found: Any) -> dict[str, Problem]:
    return {path.removeprefix(f"{AT}."): problem for path, problem in by_path(found).items()}
