"""How long it takes to read and judge a large document, as a process of its own.

    .venv/bin/python bench/large_document.py

A document of 64 pools, 512 queues and 1,000 Ray clusters should take at most 3 s of wall time, and twice of everything
at most 2.2 times as long. Figures depend on the machine, so this is no test.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml

_JUDGE = """
import sys, pathlib
from model import document
verdict = document.read(pathlib.Path(sys.argv[1])).judge()
assert not verdict.problems, verdict.problems[:3]
"""
_RUNS = 5


def document(factor: int) -> dict[str, Any]:
    """A valid document with `factor` times 64 pools, 512 queues and 1,000 Ray clusters."""
    pools = {
        f"pool{number}": {
            "server": "dgx-h100",
            "size": 64,
            "labels": {"example.com/generation": "h100", "example.com/row": f"row{number}"},
            "taints": [{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}],
            "domains": {"spine": 2, "rack": 4},
        }
        for number in range(64 * factor)
    }
    teams = 64 * factor
    queues = {
        f"team{team}": {
            "deserved": {"cpu": 7000, "memory": "64Ti", "gpu": 448},
            "capability": {"cpu": 14000, "memory": "120Ti", "gpu": 512},
            "queues": {f"part{part}": {"deserved": {"cpu": 1000, "memory": "8Ti", "gpu": 64}} for part in range(7)},
        }
        for team in range(teams)
    }
    tenants = {
        f"team{team}": {"namespaces": [f"team{team}"], "queues": [f"team{team}"], "defaultQueue": f"team{team}.part0"}
        for team in range(teams)
    }
    clusters = {
        f"cluster{number}": {
            "namespace": f"team{number % teams}",
            "queue": f"team{number % teams}.part{number % 7}",
            "pool": f"pool{number % (64 * factor)}",
            "ray": "2.52.0",
            "head": {"cpu": 8, "memory": "32Gi"},
            "workers": {"count": 8, "cpu": 96, "memory": "1Ti", "gpus": 8},
            "within": {"level": "rack"},
        }
        for number in range(1000 * factor)
    }
    return {
        "cluster": {"name": "large", "provider": "existing", "kubernetes": "1.35", "context": "large"},
        "pools": pools,
        "topology": {"labels": ["topology.example.com/spine", "topology.example.com/rack"]},
        "queues": queues,
        "tenants": tenants,
        "ray": {"clusters": clusters},
    }


def seconds(factor: int) -> float:
    """The shortest of some runs: what else the machine does only adds."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "Pulumi.large.yaml")
        file.write_text(yaml.safe_dump({"config": {"gangline:environment": document(factor)}}), "utf-8")
        taken: list[float] = []
        for _ in range(_RUNS):
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-c", _JUDGE, str(file)], check=True, cwd=Path(__file__).parents[1])
            taken.append(time.perf_counter() - begin)
    return min(taken)


if __name__ == "__main__":
    once, twice = seconds(1), seconds(2)
    print(
        f"64 pools, 512 queues, 1,000 clusters: {once:.2f} s; twice of everything: {twice:.2f} s, {twice / once:.2f} x"
    )
