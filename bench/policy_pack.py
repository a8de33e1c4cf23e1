"""How much faster the pack judges than a usual one with the same rules, side by side in one run.

    .venv/bin/python bench/policy_pack.py

The usual pack is one `ResourceValidationPolicy` of the `pulumi_policy` package per rule, which is how its
documentation writes them: there the properties of every resource are read anew for each policy. Both packs are
processes, spoken to over the engine's wire; both apply the very same rules, 60 of them, to 1,000 resources: the stack
of sixteen teams with many Ray clusters, and as much of the shipped environments as fits. The usual pack asks a rule
only about types that concern it, as its authors do. So that both give the same answers, our rules read there what the
package hands over, which costs something that its authors' own rules would not: a third pack, with rules that read
nothing, shows what is left of the difference without any rule. At least 8 times as fast, and a start within 1.0 s, is
what this project holds itself to. Figures depend on the machine: this is no test.
"""

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import psutil
from google.protobuf import empty_pb2, json_format, struct_pb2
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)

from model import document  # noqa: E402
from twin.rehearsal import rehearse  # noqa: E402

RESOURCES, RULES, RUNS, STARTS = 1000, 60, 3, 5

_OURS = """
import sys
sys.path[0] = {root!r}
from bench.policy_pack import sixty
from policies.server import serve
serve(sixty())
"""
_USUAL = """
import sys
sys.path[0] = {root!r}
from bench.policy_pack import usual
usual()
"""
_IDLE = """
import sys
sys.path[0] = {root!r}
from bench.policy_pack import idle
idle()
"""
_OPTIONS = [("grpc.max_receive_message_length", 400 << 20), ("grpc.max_send_message_length", 400 << 20)]


def sixty() -> list[Any]:
    """Sixty rules about single resources: the pack's own, some of them twice where it has fewer."""
    from policies.pack import RULES as ALL
    from policies.rules import StackRule

    rules = [rule for rule in ALL if not isinstance(rule, StackRule)]
    return [
        replace(rules[index % len(rules)], id=f"{rules[index % len(rules)].id}-{index // len(rules)}")
        for index in range(RULES)
    ]


def usual() -> None:
    """Serve the same rules as a pack of the `pulumi_policy` package."""
    from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy

    from policies import pods
    from policies.fields import Field
    from policies.rules import PodRule
    from policies.rules import Resource as Judged

    def policy(rule: Any) -> Any:
        def validate(args: Any, report: Any) -> None:
            concerns = pods.may_hold if isinstance(rule, PodRule) else rule.types.__contains__
            if concerns(args.resource_type):
                resource = Judged(args.urn, args.resource_type, lambda: Field.of(_plain(args.props)))
                for each in rule.apply(resource).violations:
                    report(f"{each.path}: {each.message}")

        return ResourceValidationPolicy(rule.id, rule.what, validate, EnforcementLevel.MANDATORY)

    PolicyPack("usual", [policy(rule) for rule in sixty()])


def idle() -> None:
    """Serve as many policies that read nothing: what is left is the package's own."""
    from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy

    def policy(rule: Any) -> Any:
        return ResourceValidationPolicy(rule.id, rule.what, lambda _args, _report: None, EnforcementLevel.MANDATORY)

    PolicyPack("idle", [policy(rule) for rule in sixty()])


def _plain(value: Any) -> Any:
    """Take a value out of the package's wrappers, which raise at unknown ones."""
    if hasattr(value, "__setitem__") or type(value).__name__ == "_ListProxy":
        value = value["__target"]
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def many_teams() -> dict[str, Any]:
    """A document of sixteen teams with five queues and sixteen Ray clusters each."""
    pools = {f"pool{number}": {"server": "dgx-h100", "size": 64} for number in range(4)}
    teams = {f"team{number}": [f"team{number}.part{part}" for part in range(4)] for number in range(16)}
    return {
        "cluster": {"name": "large", "provider": "existing", "kubernetes": "1.35", "context": "large"},
        "pools": pools,
        "queues": {
            team: {"deserved": {"gpu": 128}, "queues": {f"part{part}": {"deserved": {"gpu": 32}} for part in range(4)}}
            for team in teams
        },
        "tenants": {team: {"namespaces": [team], "queues": [team]} for team in teams},
        "ray": {
            "clusters": {
                f"{team}-{number}": {
                    "namespace": team,
                    "queue": parts[number % 4],
                    "pool": f"pool{number % 4}",
                    "ray": "2.52.0",
                    "head": {"cpu": 8, "memory": "32Gi"},
                    "workers": {"count": 2, "cpu": 96, "memory": "1Ti", "gpus": 8},
                }
                for team, parts in teams.items()
                for number in range(16)
            }
        },
    }


def resources() -> list[Any]:
    """The first thousand of: a stack of many teams, and the stacks of all shipped environments."""
    documents = {"large": document.load(many_teams())}
    for file in sorted((ROOT / "stacks").glob("Pulumi.*.yaml")):
        documents[file.name.split(".")[1]] = document.read(file).load()
    found: list[Any] = []
    for stack, environment in documents.items():
        found += [each for each in rehearse(environment, stack=stack).resources if not each.read]
    # A mistake in every eleventh, so that there is something to find.
    return [_latest(each) if number % 11 == 0 else each for number, each in enumerate(found[:RESOURCES])]


def _latest(resource: Any) -> Any:
    text = json.dumps(dict(resource.inputs))
    return replace(resource, inputs=json.loads(re.sub(r'("image": "[^"]*:)[^":]*"', r'\1latest"', text)))


@contextmanager
def pack(script: str) -> Any:
    """Run a pack; give its stub, its process, and the seconds until it said which policies it has."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "PulumiPolicy.yaml").write_text("runtime: python\nversion: 1.0.0\n")
        Path(folder, "__main__.py").write_text(script.format(root=str(ROOT)))
        # As `./gangline` does: images of containers often say that nothing compiled be kept.
        env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        began = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-u", "__main__.py", "127.0.0.1:0"], cwd=folder, env=env, stdout=subprocess.PIPE
        )
        try:
            port = int(process.stdout.readline()) if process.stdout else 0
            with grpc.insecure_channel(f"127.0.0.1:{port}", options=_OPTIONS) as channel:
                stub = analyzer_pb2_grpc.AnalyzerStub(channel)
                stub.GetAnalyzerInfo(empty_pb2.Empty())
                started = time.perf_counter() - began
                stub.ConfigureStack(analyzer_pb2.AnalyzerStackConfigureRequest(dry_run=True))
                yield stub, psutil.Process(process.pid), started
        finally:
            process.terminate()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()


def judged(stub: Any, process: psutil.Process, requests: list[Any]) -> tuple[float, float, int]:
    """Seconds for all resources, seconds of processor time that the pack took for them, and the violations found."""
    before, began = process.cpu_times(), time.perf_counter()
    responses = [stub.Analyze(request) for request in requests]
    taken, after = time.perf_counter() - began, process.cpu_times()
    found = [each for response in responses for each in response.diagnostics]
    violations = sum("can't run policy" not in each.message for each in found)
    return taken, after.user + after.system - before.user - before.system, violations


def main() -> None:
    """Measure and print."""
    requests = [
        analyzer_pb2.AnalyzeRequest(
            urn=each.urn,
            type=each.type,
            name=each.name,
            properties=json_format.ParseDict(dict(each.inputs), struct_pb2.Struct()),
        )
        for each in resources()
    ]
    wall: dict[str, list[float]] = {"ours": [], "usual": [], "idle": []}
    processor: dict[str, list[float]] = {"ours": [], "usual": [], "idle": []}
    found: dict[str, int] = {}
    with pack(_OURS) as ours, pack(_USUAL) as other, pack(_IDLE) as without:
        for _ in range(RUNS):
            for name, (stub, process, _) in (("ours", ours), ("usual", other), ("idle", without)):
                taken, worked, found[name] = judged(stub, process, requests)
                wall[name].append(taken)
                processor[name].append(worked)
    if found["ours"] != found["usual"]:
        raise SystemExit(f"the packs disagree: {found} violations")
    print(f"{RULES} rules x {RESOURCES} resources, {found['ours']} violations:")
    for what, seconds in (("wall time", wall), ("processor time of the pack", processor)):
        fast, slow, least = (statistics.median(each) for each in seconds.values())
        print(f"  {what}: {fast:.2f} s, a usual pack {slow:.2f} s: {slow / fast:.1f} x")
        print(f"    a usual pack whose rules read nothing: {least:.2f} s: {least / fast:.1f} x")
    starts = []
    for _ in range(STARTS):
        with pack(_START) as (_, _, started):
            starts.append(started)
    print(f"start of the whole pack: {statistics.median(starts):.2f} s (at most {max(starts):.2f} s)")


_START = """
import sys
sys.path[0] = {root!r}
from policies.pack import RULES
from policies.server import serve
serve(RULES)
"""

if __name__ == "__main__":
    main()
