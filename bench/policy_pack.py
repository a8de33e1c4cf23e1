"""How much faster the pack judges than a usual one with the same rules, side by side in one run.

    .venv/bin/python bench/policy_pack.py

The usual pack is one `ResourceValidationPolicy` of the `pulumi_policy` package per rule, which is how its documentation
writes them: there the properties of every resource are read anew for each policy. Both packs are processes, spoken to
over the engine's wire; both apply the very same rules, 60 of them, to the resources of the shipped environments,
repeated up to 1,000. The usual pack asks a rule only about types that concern it, as its authors do. At least 8 times
as fast, and a start within 1.0 s, is what this project holds itself to. Figures depend on the machine: this is no test.
"""

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
from google.protobuf import empty_pb2, json_format, struct_pb2
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)

from model import document  # noqa: E402
from twin.rehearsal import Resource, rehearse  # noqa: E402

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


def _plain(value: Any) -> Any:
    """Take a value out of the package's wrappers, which raise at unknown ones."""
    if hasattr(value, "__setitem__") or type(value).__name__ == "_ListProxy":
        value = value["__target"]
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def resources() -> list[Resource]:
    """The resources of all shipped environments, repeated under other names."""
    found: list[Resource] = []
    for file in sorted((ROOT / "stacks").glob("Pulumi.*.yaml")):
        rehearsal = rehearse(document.read(file).load(), stack=file.name.split(".")[1])
        found += [each for each in rehearsal.resources if each.custom and not each.read]
    return [
        replace(found[index % len(found)], urn=f"{found[index % len(found)].urn}-{index}") for index in range(RESOURCES)
    ]


@contextmanager
def pack(script: str) -> Any:
    """Run a pack; give its stub and the seconds until it said which policies it has."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "PulumiPolicy.yaml").write_text("runtime: python\nversion: 1.0.0\n")
        Path(folder, "__main__.py").write_text(script.format(root=str(ROOT)))
        began = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-u", "__main__.py", "127.0.0.1:0"], cwd=folder, stdout=subprocess.PIPE
        )
        try:
            port = int(process.stdout.readline()) if process.stdout else 0
            with grpc.insecure_channel(f"127.0.0.1:{port}", options=_OPTIONS) as channel:
                stub = analyzer_pb2_grpc.AnalyzerStub(channel)
                stub.GetAnalyzerInfo(empty_pb2.Empty())
                started = time.perf_counter() - began
                stub.ConfigureStack(analyzer_pb2.AnalyzerStackConfigureRequest(dry_run=True))
                yield stub, started
        finally:
            process.terminate()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()


def judged(stub: Any, requests: list[Any]) -> tuple[float, int]:
    """Seconds for all resources, and the violations found."""
    began = time.perf_counter()
    responses = [stub.Analyze(request) for request in requests]
    taken = time.perf_counter() - began
    found = [each for response in responses for each in response.diagnostics]
    return taken, sum("can't run policy" not in each.message for each in found)


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
    times: dict[str, list[float]] = {"ours": [], "usual": []}
    found: set[int] = set()
    with pack(_OURS) as (ours, _), pack(_USUAL) as (usual_, _):
        for _ in range(RUNS):
            for name, stub in (("ours", ours), ("usual", usual_)):
                taken, violations = judged(stub, requests)
                times[name].append(taken)
                found.add(violations)
    if len(found) != 1:
        raise SystemExit(f"the packs disagree: {found} violations")
    fast, slow = statistics.median(times["ours"]), statistics.median(times["usual"])
    print(f"{RULES} rules x {RESOURCES} resources: {fast:.2f} s, a usual pack {slow:.2f} s: {slow / fast:.1f} x")
    starts = []
    for _ in range(STARTS):
        with pack(_START) as (_, started):
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
