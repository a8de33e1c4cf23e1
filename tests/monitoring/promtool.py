"""`promtool test rules`, driven from tables: what the exporters say, and what follows from it."""

import itertools
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from model.monitoring.alerts import Alert, annotations
from model.monitoring.exporter import JOB

from .documents import environment

Series = dict[str, str]
Raised = tuple[Mapping[str, str], str]


@dataclass(frozen=True)
class Situation:
    """What the exporters say, and which alerts are there for it.

    Attributes:
        what: What has happened.
        series: What the exporters say, minute by minute.
        at: Minutes after the beginning, when it is looked.
        raised: Labels and summary of each alert then.
        step: Minutes between two values.
    """

    what: str
    series: Sequence[Series]
    at: int
    raised: Sequence[Raised] = ()
    step: int = 1


@dataclass(frozen=True)
class Sample:
    """What a series of a recording rule says in the end: labels and value."""

    labels: Mapping[str, str]
    value: float


def series(metric: str, values: str, labels: Mapping[str, object]) -> Series:
    """Give one series of promtool."""
    told = ", ".join(f'{key}="{value}"' for key, value in labels.items())
    return {"series": f"{metric}{{{told}}}", "values": values}


def on_gpu(
    metric: str,
    values: str,
    *,
    pool: str = "train",
    name: str = "",
    gpu: int = 0,
    instance: int | None = None,
    **labels: Any,
) -> Series:
    """Give a series of the DCGM exporter, of a GPU or of an instance of one, as Prometheus keeps it."""
    node_name = name or f"{pool}-0"
    cut = {} if instance is None else {"GPU_I_PROFILE": "1g.10gb", "GPU_I_ID": instance}
    return series(
        metric,
        values,
        {
            "gpu": gpu,
            "UUID": f"GPU-{node_name}-{gpu}",
            "device": f"nvidia{gpu}",
            "pci_bus_id": f"00000000:{gpu:02X}:00.0",
            "modelName": "H100",
            **cut,
            "Hostname": node_name,
            "DCGM_FI_DRIVER_VERSION": "580.95.05",
            "job": JOB,
            "instance": f"{node_name}:9400",
            "node": node_name,
            "pool": pool,
            **labels,
        },
    )


def node(metric: str, values: str, *, pool: str = "train", name: str = "", job: str = JOB) -> Series:
    """Give what Prometheus itself says of an exporter."""
    node_name = name or f"{pool}-0"
    return series(metric, values, {"job": job, "instance": f"{node_name}:9400", "node": node_name, "pool": pool})


def on_port(metric: str, values: str, *, device: str = "mlx5_0") -> Series:
    """Give a series of node-exporter, of a port of an RDMA device."""
    labels = {"job": "node-exporter", "instance": "train-0:9100", "device": device, "port": "1"}
    return series(metric, values, labels)


XID = "DCGM_EXP_XID_ERRORS_COUNT"
GPU_0 = {"pool": "train", "node": "train-0", "gpu": "0", "UUID": "GPU-train-0-0", "modelName": "H100"}
SERVE = GPU_0 | {"pool": "serve", "node": "serve-0", "UUID": "GPU-serve-0-0"}


def pod(name: str) -> dict[str, Any]:
    """Give the labels of a pod that holds a device."""
    return {"namespace": "lab", "pod": name, "container": "main"}


POD = pod("job-0")


def where(gpu: Mapping[str, str] = GPU_0) -> str:
    return f"GPU {gpu['gpu']} of node {gpu['node']}"


def xid(number: str, values: str, **labels: Any) -> dict[str, str]:
    return on_gpu(XID, values, xid=number, **labels)


def no_xid(values: str = "0x30") -> dict[str, str]:
    """What the exporter says of a GPU without errors."""
    return on_gpu(XID, values)


@dataclass
class Promtool:
    """The program, a folder of its own, and the rules that it judges."""

    program: Path
    folder: Path
    rules: Mapping[str, Any]
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    def check(self) -> str:
        """What `promtool check rules` has to say against them; empty when nothing."""
        return self._run("check", "rules", "--lint=all", "--lint-fatal", str(self._rule_file()))

    def judge(self, alert: Alert, situations: Sequence[Situation]) -> str:
        """What differs between the alerts that should be there and those that are; empty when nothing."""
        steps: dict[int, list[dict[str, Any]]] = {situation.step: [] for situation in situations}
        for situation in situations:
            steps[situation.step].append(self._tried(alert, situation))
        return "".join(self._test(*groups, step=step) for step, groups in steps.items())

    def _tried(self, alert: Alert, situation: Situation) -> dict[str, Any]:
        expected = [
            {
                "exp_labels": {"severity": alert.severity, **labels},
                "exp_annotations": annotations(environment(), alert) | {"summary": summary},
            }
            for labels, summary in situation.raised
        ]
        tried = {"eval_time": f"{situation.at}m", "alertname": alert.name, "exp_alerts": expected}
        return _group(situation.what, situation.series, situation.step) | {"alert_rule_test": [tried]}

    def all_silent(self, alerts: Iterable[Alert], told: Sequence[Series], at: int) -> str:
        """Which alerts are there, though none should be; empty when none is."""
        tried = [{"eval_time": f"{at}m", "alertname": alert.name, "exp_alerts": []} for alert in alerts]
        return self._test(_group("a sound cluster", told) | {"alert_rule_test": tried})

    def values(self, told: Sequence[Series], expected: Mapping[str, Sequence[Sample]], at: int) -> str:
        """What differs between what recordings should say and what they do; empty when nothing."""
        tried = [
            {
                "expr": name,
                "eval_time": f"{at}m",
                "exp_samples": [
                    {"labels": series(name, "", sample.labels)["series"], "value": sample.value} for sample in samples
                ],
            }
            for name, samples in expected.items()
        ]
        return self._test(_group("recordings", told) | {"promql_expr_test": tried})

    def parse(self, expressions: Sequence[str]) -> str:
        """What is wrong with some expressions; empty when nothing."""
        rules = [{"record": f"expression:{number}", "expr": text} for number, text in enumerate(expressions)]
        file = self.folder / "expressions.yaml"
        file.write_text(yaml.safe_dump({"groups": [{"name": "expressions", "rules": rules}]}))
        return self._run("check", "rules", str(file))

    def _test(self, *groups: Mapping[str, Any], step: int = 1) -> str:
        # One file each, so that tests may run beside each other.
        file = self.folder / f"test-{next(self._numbers)}.yaml"
        document = {
            "rule_files": [str(self._rule_file())],
            # Prometheus looks at rules as often as there are values.
            "evaluation_interval": f"{step}m",
            "group_eval_order": [group["name"] for group in self.rules["groups"]],
            "tests": [dict(group) for group in groups],
        }
        file.write_text(yaml.safe_dump(document, sort_keys=False))
        return self._run("test", "rules", str(file))

    def _rule_file(self) -> Path:
        file = self.folder / "rules.yaml"
        if not file.exists():
            file.write_text(yaml.safe_dump(dict(self.rules), sort_keys=False))
        return file

    def _run(self, *arguments: str) -> str:
        done = subprocess.run([self.program, *arguments], capture_output=True, text=True, check=False)
        said = re.sub(r"^Unit Testing: .*$", "", done.stdout + done.stderr, flags=re.MULTILINE).strip()
        return "" if done.returncode == 0 else said or f"promtool ended with {done.returncode}"


def _group(name: str, told: Sequence[Series], step: int = 1) -> dict[str, Any]:
    """Give a test group of promtool."""
    return {"name": name, "interval": f"{step}m", "input_series": list(told)}
