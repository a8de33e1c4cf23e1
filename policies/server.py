"""Answers the engine: rules over the analyzer protocol (pulumi, proto/pulumi/analyzer.proto).

The protocol is spoken directly, since two things that the rules need are not to be had through the `pulumi_policy`
package: whether this is a preview, and fields of which some are unknown (docs/decisions/050-*.md).
"""

import json
import os
import signal
import sys
import threading
from collections.abc import Iterable, Sequence
from concurrent import futures
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import grpc
import yaml
from google.protobuf import empty_pb2, json_format
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc, plugin_pb2

from model.engine_names import DOCUMENT_KEY, ROOT_TYPE
from model.exemptions import STACK
from policies import pods
from policies.fields import Field
from policies.own_rules import EXEMPTION_EXPIRED, EXEMPTION_UNUSED, OWN_RULES, POLICY_SETTINGS, UNJUDGED
from policies.rules import (
    Law,
    Level,
    Option,
    PodRule,
    Report,
    Resource,
    ResourceRule,
    Rule,
    Severity,
    Stack,
    StackRule,
    Unjudged,
)
from policies.settings import Exemption, Run, settle

_Rule = TypeVar("_Rule", bound=Rule)

NAME = "gangline"

_MESSAGE_LIMIT = 400 * 1024 * 1024  # as in pulumi_policy: a whole stack is one message
_LEVELS = {
    Level.ADVISORY: analyzer_pb2.ADVISORY,
    Level.MANDATORY: analyzer_pb2.MANDATORY,
    Level.DISABLED: analyzer_pb2.DISABLED,
}
_SEVERITIES = {
    Severity.LOW: analyzer_pb2.POLICY_SEVERITY_LOW,
    Severity.MEDIUM: analyzer_pb2.POLICY_SEVERITY_MEDIUM,
    Severity.HIGH: analyzer_pb2.POLICY_SEVERITY_HIGH,
    Severity.CRITICAL: analyzer_pb2.POLICY_SEVERITY_CRITICAL,
}
_JSON_TYPES = {int: "integer", str: "string", bool: "boolean", list: "array"}


class Analyzer(analyzer_pb2_grpc.AnalyzerServicer):
    """The pack.

    Calls come from several threads. Settings are replaced whole, never changed. What is noted of a resource is added
    under its URN, in one step, and read when the whole stack is judged: then the engine has no more resources.
    """

    def __init__(self, rules: Iterable[Law]) -> None:
        rules = tuple(rules)
        self._rules: tuple[Rule, ...] = (*rules, *OWN_RULES)
        self._pod_rules = [rule for rule in rules if isinstance(rule, PodRule)]
        self._resource_rules: dict[str, list[ResourceRule]] = {}
        for rule in rules:
            if isinstance(rule, ResourceRule):
                for type_ in rule.types:
                    self._resource_rules.setdefault(type_, []).append(rule)
        self._stack_rules = [rule for rule in rules if isinstance(rule, StackRule)]
        self._version = _version()
        self._run = Run()
        self._begin(analyzer_pb2.AnalyzerStackConfigureRequest(dry_run=True))

    def _begin(self, request: Any) -> None:
        self._preview = request.dry_run
        self._stack = f"urn:pulumi:{request.stack}::{request.project}::{STACK}::{request.project}-{request.stack}"
        # Before any resource: one of a fork's own may be judged before the component that carries the document.
        told = request.config.get(DOCUMENT_KEY)
        self._configured = _document(told) if told else None
        self._document: Field | None = None
        self._platform: str | None = None
        self._unjudged: dict[str, list[tuple[str, Unjudged]]] = {}
        self._written: dict[str, Resource] = {}
        self._used: set[Exemption] = set()
        self._settle()

    def _settle(self) -> None:
        document = self._configured or self._document
        self._settings = settle(self._rules, self._run, document, datetime.now(UTC).date())

    # The names of the following methods are the protocol's.

    def Handshake(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002, D102
        return analyzer_pb2.AnalyzerHandshakeResponse()

    def GetPluginInfo(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002, D102
        return plugin_pb2.PluginInfo(version=self._version)

    def GetAnalyzerInfo(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Say which rules there are."""
        info = analyzer_pb2.AnalyzerInfo(name=NAME, displayName="Gangline", version=self._version, supportsConfig=True)
        for rule in self._rules:
            resource = isinstance(rule, (PodRule, ResourceRule))
            policy = info.policies.add(
                name=rule.id,
                displayName=rule.id,
                description=rule.what,
                enforcementLevel=_LEVELS[rule.level],
                severity=_SEVERITIES[rule.severity],
                remediation_steps=rule.fix,
                url=rule.link,
                policy_type=analyzer_pb2.POLICY_TYPE_RESOURCE if resource else analyzer_pb2.POLICY_TYPE_STACK,
            )
            for name, option in rule.options.items():
                policy.configSchema.properties[name] = _schema(option)
        return info

    def Configure(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Take the levels and options that the configuration of the pack sets."""
        names = {number: level for level, number in _LEVELS.items()} | {analyzer_pb2.REMEDIATE: Level.MANDATORY}
        self._run = Run(
            {name: names[config.enforcementLevel] for name, config in request.policyConfig.items()},
            {
                name: Field.of(json_format.MessageToDict(config.properties), f"configuration of {name}")
                for name, config in request.policyConfig.items()
            },
        )
        self._settle()
        return empty_pb2.Empty()

    def ConfigureStack(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Begin a run, and learn whether it is a preview."""
        self._begin(request)
        return analyzer_pb2.AnalyzerStackConfigureResponse()

    def Analyze(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Judge a resource by its inputs."""
        resource = _resource(request)
        response = analyzer_pb2.AnalyzeResponse()
        waiting: list[tuple[str, Unjudged]] = []
        if resource.type == ROOT_TYPE:
            # A component's outputs are what it chose to register: its inputs are seen here only.
            self._document = resource.properties["environment"]
            self._settle()
            self._platform = resource.urn
            waiting += self._tell_settings(response, resource.urn)
        for rule in self._active(self._about(resource.type)):
            waiting += self._answer(response, rule, self._apply(rule, resource), resource.urn)
        self._unjudged[resource.urn] = waiting
        self._written[resource.urn] = resource
        return response

    def AnalyzeStack(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Judge all resources together, and list what a preview could not judge."""
        stack = Stack(tuple(self._of_stack(each) for each in request.resources), self._document)
        response = analyzer_pb2.AnalyzeResponse()
        waiting = [(rule, each, urn) for urn, found in self._unjudged.items() for rule, each in found]
        if self._platform is None:
            waiting += [(name, each, "") for name, each in self._tell_settings(response, "")]
        for rule in self._active(self._stack_rules):
            found = self._answer(response, rule, self._apply(rule, stack), "")
            waiting += [(name, each, each.urn) for name, each in found]
        self._tell_unused(response)
        if waiting and self._active([UNJUDGED]):
            self._diagnostic(response, UNJUDGED, _summary(waiting), "")
        return response

    def Remediate(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Change nothing: a rule says what to do, and a person does it."""
        return analyzer_pb2.RemediateResponse()

    def Cancel(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Nothing runs long enough to be cancelled."""
        return empty_pb2.Empty()

    def _of_stack(self, message: Any) -> Resource:
        references = {key: tuple(it.urns) for key, it in message.propertyDependencies.items()}
        return replace(_resource(message), references=references, written=self._written.get(message.urn))

    def _about(self, type_: str) -> list[PodRule | ResourceRule]:
        """The rules that have anything to say of a type: others are not asked, nor is the resource opened for them."""
        return [*(self._pod_rules if pods.may_hold(type_) else ()), *self._resource_rules.get(type_, ())]

    def _active(self, rules: Iterable[_Rule]) -> list[_Rule]:
        return [rule for rule in rules if self._settings.levels[rule.id] is not Level.DISABLED]

    def _apply(self, rule: Any, subject: Any) -> Report:
        try:
            return rule.apply(subject, self._settings.options[rule.id], self._settings.system)
        except Exception as error:  # noqa: BLE001 - a defect in one rule must neither hide the others' verdicts nor pass
            report = Report()
            report.violation("", f"the rule itself failed, which is a defect in it: {type(error).__name__}: {error}")
            return report

    def _answer(self, response: Any, rule: Rule, report: Report, urn: str) -> list[tuple[str, Unjudged]]:
        """Write a report into a response; give back what a preview must leave to the update."""
        if not (report.violations or report.unjudged):
            return []
        # A workload of several pods may break a rule several times in the one place where it can be mended.
        for each in dict.fromkeys(report.violations):
            self._violation(response, rule, f"{each.path}: {each.message}\nfix: {rule.fix}", each.urn or urn)
        unjudged = list(dict.fromkeys(report.unjudged))
        for each in unjudged:
            if not self._preview:
                message = f"{each.path}: cannot be judged, it {each.reason}"
                self._violation(response, rule, message, each.urn or urn)
            elif exemption := self._settings.exemption(rule.id, each.urn or urn or self._stack):
                self._used.add(exemption)  # nobody knows yet whether it is needed
        return [(rule.id, each) for each in unjudged] if self._preview else []

    def _violation(self, response: Any, rule: Rule, message: str, urn: str) -> None:
        exemption = self._settings.exemption(rule.id, urn or self._stack)
        if exemption is None:
            self._diagnostic(response, rule, message, urn)
            return
        self._used.add(exemption)
        # On one line, whatever somebody wrote: so it is found again in a message.
        said = " ".join(f"exempted: {exemption.owner}, {exemption.reason}, until {exemption.expires}".split())
        self._diagnostic(response, rule, f"{message}\n{said}", urn, Level.ADVISORY)

    def _tell_settings(self, response: Any, urn: str) -> list[tuple[str, Unjudged]]:
        """Tell what is wrong with how the rules are set; before anything is made, where a document comes first."""
        expired = Report()
        for each in self._settings.expired:
            message = f"{each.owner}'s for {each.rule} at {each.pattern} ended on {each.expires} ({each.reason})"
            expired.violation(each.place, message)
        answers = zip((POLICY_SETTINGS, EXEMPTION_EXPIRED), (self._settings.faults, expired), strict=True)
        return [
            each
            for rule, report in answers
            if self._active([rule])
            for each in self._answer(response, rule, report, urn)
        ]

    def _tell_unused(self, response: Any) -> None:
        unused = Report()
        for each in (each for all_ in self._settings.valid.values() for each in all_ if each not in self._used):
            unused.violation(each.place, f"nothing at {each.pattern} breaks {each.rule}")
        for rule in self._active([EXEMPTION_UNUSED]):
            self._answer(response, rule, unused, self._platform or "")

    def _diagnostic(self, response: Any, rule: Rule, message: str, urn: str, level: Level | None = None) -> None:
        response.diagnostics.add(
            policyName=rule.id,
            policyPackName=NAME,
            policyPackVersion=self._version,
            description=rule.what,
            message=f"{rule.what}\n{message}",
            enforcementLevel=_LEVELS[level or self._settings.levels[rule.id]],
            severity=_SEVERITIES[rule.severity],
            urn=urn,
        )


def serve(rules: Iterable[Law]) -> None:
    """Serve the rules on a free loopback port, which is the first line printed, until the engine is gone."""
    options = [("grpc.max_receive_message_length", _MESSAGE_LIMIT), ("grpc.max_send_message_length", _MESSAGE_LIMIT)]
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=4), options=options)
    analyzer_pb2_grpc.add_AnalyzerServicer_to_server(Analyzer(rules), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    ended = threading.Event()
    # Control-C reaches the whole process group: leave as quietly as when the engine ends us.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    parent = os.getppid()
    print(port, flush=True)
    while not ended.wait(1) and os.getppid() == parent:
        pass  # an engine that is killed cannot end us
    server.stop(None)
    sys.exit(0)


def _document(text: str) -> Field | None:
    try:
        return Field.of(json.loads(text), "environment")
    except ValueError:
        return None  # the stack itself says so


def _schema(option: Option) -> dict[str, Any]:
    """The JSON schema of an option. Without a default the engine hands over only what somebody has set."""
    items = {"items": {"type": "string"}} if option.kind is list else {}
    return {"type": _JSON_TYPES[option.kind], "description": option.meaning, **items}


def _resource(message: Any) -> Resource:
    return Resource(
        message.urn,
        message.type,
        lambda: Field.of(json_format.MessageToDict(message.properties)),
        message.options.protect,
    )


def _version() -> str:
    with (Path(__file__).parent / "PulumiPolicy.yaml").open() as file:
        return yaml.safe_load(file)["version"]


def _summary(waiting: Sequence[tuple[str, Unjudged, str]]) -> str:
    """Count and list what waits for the update, one line for each field with the rules that need it."""
    rules: dict[str, list[str]] = {}
    for rule, each, urn in waiting:
        where = f"{urn.rsplit('::', 1)[-1]}: {each.path} {each.reason}"
        rules.setdefault(where, []).append(rule)
    places = "1 place" if len(rules) == 1 else f"{len(rules)} places"
    lines = [f"{where} ({', '.join(sorted(set(names)))})" for where, names in sorted(rules.items())]
    return "\n".join([f"{places} could not be judged and will be at the update:", *lines])
