"""How a pod's container becomes a process on this machine: what is run, and how that differs from the pod's own words.

Pure functions of the pod and of the objects that it mounts. A program runs with the arguments and the environment of
its own container; only what cannot be the same on a shared machine differs, and each such difference is recorded.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from twin import images
from twin.lendable import ADDRESS, LENDABLE, Lendable


class LoanRefusedError(Exception):
    """A pod asks for something that the twin cannot lend. The text says what."""


class NotYetError(Exception):
    """Something that a pod mounts does not exist yet. The text says what."""


@dataclass(frozen=True)
class Difference:
    """One way in which a lent process differs from its container.

    Attributes:
        what: The flag, variable or aspect.
        own: What the container says; empty when it says nothing.
        lent: What the process got.
        why: The reason, in a few words.
    """

    what: str
    own: str
    lent: str
    why: str


@dataclass(frozen=True)
class Mount:
    """Where a container expects files, and where they are here.

    Attributes:
        path: The path in the container.
        volume: Name of the volume.
        directory: The directory here that holds the volume.
        part: The part of the volume that is mounted (`subPath`), or empty.
    """

    path: str
    volume: str
    directory: Path
    part: str = ""

    @property
    def here(self) -> Path:
        """The path here that stands for the container's."""
        return self.directory / self.part if self.part else self.directory


@dataclass(frozen=True)
class Loan:
    """A process to be run for a pod.

    Attributes:
        program: Name of the program.
        arguments: Its arguments.
        environment: Its environment.
        ports: The port here for each port of the container.
        named: Container ports by name, for Services that use names.
        probe: URL that answers when it works.
        any_answer: Whether any answer will do.
        differences: How it differs from the container.
        files: Files that it reads and nothing mounts, by where they must be.
    """

    program: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    ports: Mapping[int, int]
    named: Mapping[str, int]
    probe: str
    any_answer: bool
    differences: tuple[Difference, ...]
    files: Mapping[Path, str] = field(default_factory=dict)


def container_of(pod: Mapping[str, Any]) -> dict[str, Any]:
    """Give the one container of a pod whose image is lent.

    Raises:
        LoanRefusedError: There are others beside it.
    """
    spec = pod["spec"]
    containers = spec["containers"]
    if len(containers) != 1 or spec.get("initContainers"):
        raise LoanRefusedError("the twin lends a process to a pod of one container, without init containers")
    return containers[0]


def concerns(pod: Mapping[str, Any]) -> bool:
    """Say whether a pod has a container whose image is lent."""
    return any(images.lent_program(container.get("image", "")) for container in pod["spec"]["containers"])


def script_of(container: Mapping[str, Any]) -> tuple[str, list[str]] | None:
    """Give the script that a container runs in place of the image's program, with its arguments, or None."""
    program = images.lent_program(container["image"])
    command = [*(container.get("command") or [])]
    if not command or program is None or Path(command[0]).name in LENDABLE[program].entrypoints:
        return None
    return Path(command[0]).name, [*command[1:], *(container.get("args") or [])]


def mounts_of(pod: Mapping[str, Any], container: Mapping[str, Any], directory: Path) -> list[Mount]:
    """Give the mounts of a container. The service account's own is left out: the kubeconfig takes its place."""
    volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes") or []}
    return [
        Mount(mount["mountPath"].rstrip("/"), mount["name"], directory / mount["name"], mount.get("subPath", ""))
        for mount in container.get("volumeMounts") or []
        if "projected" not in volumes[mount["name"]]
    ]


def plan(
    pod: Mapping[str, Any],
    container: Mapping[str, Any],
    *,
    executable: Path,
    kubeconfig: Path,
    mounts: Iterable[Mount],
    environment: Mapping[str, str],
    port: Callable[[], int],
    read: Callable[[Path], str] = Path.read_text,
) -> Loan:
    """Work out the process for a container.

    Args:
        pod: The pod, as the API server sends it.
        container: Its container.
        executable: The program here.
        kubeconfig: A kubeconfig that authenticates as the pod's service account.
        mounts: Its mounts.
        environment: The container's environment, references resolved.
        port: Gives a free port here, each time another one.
        read: Reads a mounted file.

    Raises:
        LoanRefusedError: The image is not lent.
    """
    program = images.lent_program(container["image"])
    if program is None:
        raise LoanRefusedError(f"image {container['image']} is not lent")
    known = LENDABLE[program]
    namespace, account = pod["metadata"]["namespace"], pod["spec"].get("serviceAccountName", "default")
    differences = [Difference("image", container["image"], str(executable), "no image is pulled, no container runs")]

    command = container.get("command") or []
    own = [_expand(argument, environment) for argument in [*command[1:], *(container.get("args") or [])]]
    mounts = tuple(mounts)
    arguments, variables = _translated(own, environment, mounts, differences)
    written = _Configuration(known, arguments, read) if known.configuration else None

    ports: dict[int, int] = {}
    at: dict[str, int] = {}
    for listener in known.listeners:
        said = written.value(listener.flag) if written and listener.in_file else _value(arguments, listener.flag)
        here = at[listener.name] = ports[_port(said, listener.port)] = port()
        lent = str(here) if listener.bare else f"{ADDRESS}:{here}"
        if written and listener.in_file:
            written.put(listener.flag, here if listener.bare else lent)
        else:
            arguments = with_flag(arguments, listener.flag, lent)
        differences.append(Difference(listener.flag, said, lent, "all processes share one machine"))
    files: dict[Path, str] = {}
    if written:
        for place, default in known.folders.items():
            said = written.value(place) or default
            lent = translated(said, mounts)
            written.put(place, lent)
            differences.append(Difference(place, said, lent, "mounted files are here"))
        file = kubeconfig.parent / "configuration.yaml"
        files[file] = written.text
        arguments = with_flag(arguments, known.configuration, str(file))
    account_note = f"outside a pod; a token of service account {namespace}/{account}"
    for flag, value, why in (*known.extra, ("--kubeconfig", str(kubeconfig), account_note)):
        if not _value(arguments, flag):
            text = value.replace("{namespace}", namespace)
            arguments = with_flag(arguments, flag, text)
            differences.append(Difference(flag, "", text, why))
    if limits := container.get("resources", {}).get("limits"):
        written = ", ".join(f"{name} {amount}" for name, amount in limits.items())
        differences.append(Difference("limits", written, "", "not enforced"))

    address = f"{ADDRESS}:{at[known.probe.listener]}"
    named = {item["name"]: item["containerPort"] for item in container.get("ports") or [] if item.get("name")}
    return Loan(
        program=program,
        arguments=tuple(arguments),
        environment=variables,
        ports=ports,
        named=named,
        probe=f"{known.probe.scheme}://{address}{known.probe.path}",
        any_answer=known.probe.any_answer,
        differences=tuple(differences),
        files=files,
    )


class _Configuration:
    """A program's configuration file, of which some places get other values."""

    def __init__(self, known: Lendable, arguments: list[str], read: Callable[[Path], str]) -> None:
        try:
            self._document = yaml.safe_load(read(Path(_value(arguments, known.configuration)))) or {}
        except OSError as error:
            raise NotYetError(f"its configuration cannot be read: {error}") from None

    def value(self, place: str) -> str:
        here: Any = self._document
        for key in place.split("."):
            here = here.get(key, {}) if isinstance(here, dict) else {}
        return "" if here == {} else str(here)

    def put(self, place: str, value: object) -> None:
        *above, last = place.split(".")
        here = self._document
        for key in above:
            here = here.setdefault(key, {})
        here[last] = value

    @property
    def text(self) -> str:
        return yaml.safe_dump(self._document, sort_keys=False)


def _translated(
    own: Sequence[str], environment: Mapping[str, str], mounts: Sequence[Mount], differences: list[Difference]
) -> tuple[list[str], dict[str, str]]:
    """Put the files here in place of the container's, in arguments and environment, and note where that was done."""
    arguments = [translated(argument, mounts) for argument in own]
    variables = {name: translated(value, mounts) for name, value in environment.items()}
    why = "mounted files are here"
    for before, after in zip(own, arguments, strict=True):
        if before != after:
            flag, equals, value = before.partition("=")
            differences.append(Difference(flag, value or before, after.removeprefix(flag + equals), why))
    for name, value in variables.items():
        if value != environment[name]:
            differences.append(Difference(name, environment[name], value, why))
    return arguments, variables


def translated(text: str, mounts: Sequence[Mount]) -> str:
    """Give a text in which the files here stand for those of the container."""
    for mount in sorted(mounts, key=lambda mount: -len(mount.path)):
        here = str(mount.here)
        text = re.sub(rf"(?<![\w./-]){re.escape(mount.path)}(?=[/,:;]|$)", lambda _, here=here: here, text)
    return text


def with_flag(arguments: Iterable[str], flag: str, value: str) -> list[str]:
    """Give arguments with a flag of Go's set, however it was written before, and first when it was not there."""
    return [f"{flag}={value}", *without_flag(arguments, flag)]


def without_flag(arguments: Iterable[str], flag: str) -> list[str]:
    """Give arguments without a flag of Go's, however it was written."""
    name = flag.lstrip("-")
    rest: list[str] = []
    skip = False
    for argument in arguments:
        if skip:
            skip = False
            continue
        head, equals, _ = argument.partition("=")
        if head.startswith("-") and head.lstrip("-") == name:
            skip = not equals
            continue
        rest.append(argument)
    return rest


def _value(arguments: list[str], flag: str) -> str:
    name = flag.lstrip("-")
    for position, argument in enumerate(arguments):
        head, equals, value = argument.partition("=")
        if head.startswith("-") and head.lstrip("-") == name:
            return value if equals else (arguments[position + 1] if position + 1 < len(arguments) else "")
    return ""


def _port(said: str, default: int) -> int:
    digits = said.rpartition(":")[2]
    return int(digits) if digits.isdigit() else default


def _expand(text: str, environment: Mapping[str, str]) -> str:
    # As the kubelet does: $(NAME) where NAME is known, $$ for a dollar sign.
    def put(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        return environment.get(match[1], match[0])

    return re.sub(r"\$\$|\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)", put, text)
