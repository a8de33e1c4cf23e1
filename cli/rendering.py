"""`render`: the whole stack as desired state, without an engine and without a cluster."""

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.text import Text
from rich.tree import Tree

from . import environments
from .output import console, errors
from .refusals import RefusedError

if TYPE_CHECKING:
    from model.environment import Environment
    from twin.policy_pack import Verdict
    from twin.rehearsal import Rehearsal, Resource


def render(environment: environments.Name = "twin") -> None:
    """Show every resource with its inputs, by component, and what the policies say of it.

    This is desired state: it is not compared with any cluster, and nothing is changed. `up --preview` compares.
    """
    loaded = load(environment)
    show_document(environment, loaded)
    show_rehearsal(environment, loaded, brief=False)


def now() -> datetime:
    """Give the time by which documents are judged."""
    return datetime.now(UTC)


def load(environment: str, clock: Callable[[], datetime] | None = now) -> "Environment":
    """Read and check the document of an environment; its warnings go to stderr.

    Args:
        environment: Its name.
        clock: What tells the time, as capacity that was bought ends; None for what must always go, such as a `destroy`.

    Raises:
        DocumentError: With every problem of the document.
        RefusedError: There is no such environment.
    """
    from model import document, problems

    read = document.read(environments.file(environment))
    environments.refuse_copied_salt(environment)
    verdict = read.judge(clock() if clock else None)
    if verdict.environment is not None and verdict.warnings:
        errors.print(problems.render(verdict.warnings, read.file, read.positions), markup=False, soft_wrap=True)
    return verdict.required(read.file, read.positions)


def show_document(name: str, environment: "Environment") -> None:
    """Print what the document says, in a few lines."""
    from . import describing

    console.print(f"[bold]{name}[/] ({environments.file(name)})")
    console.print(describing.table(environment))


def show_rehearsal(name: str, environment: "Environment", *, brief: bool) -> "Rehearsal":
    """Run the stack in process, print its resources and the policies' verdicts, and give it.

    Args:
        name: Name of the environment, which is the stack's.
        environment: The checked document.
        brief: One line of inputs per resource, instead of all of them.

    Raises:
        RefusedError: A mandatory policy is broken.
    """
    from twin.policy_pack import judge
    from twin.rehearsal import rehearse

    began = time.monotonic()
    rehearsal = rehearse(environment, stack=name)
    verdicts = judge([resource for resource in rehearsal.resources if not resource.read])
    console.print(_tree(rehearsal.resources, brief=brief))
    counted = f"{len(rehearsal.resources)} resources, desired state, not compared with a cluster"
    hint = f"; all inputs: ./gangline render {name}" if brief else ""
    console.print(f"{counted}; {time.monotonic() - began:.1f} s{hint}")
    _show_verdicts(verdicts)
    return rehearsal


def _show_verdicts(verdicts: "Sequence[Verdict]") -> None:
    mandatory = [verdict for verdict in verdicts if verdict.level == "mandatory"]
    for verdict in verdicts:
        colour = "red" if verdict.level == "mandatory" else "yellow"
        errors.print(
            f"[{colour}]{verdict.level}[/] [bold]{verdict.policy}[/] {escape(verdict.urn.rpartition('::')[2])}"
        )
        errors.print(f"  {escape(verdict.message)}")
    if mandatory:
        raise RefusedError(f"policies: {len(mandatory)} mandatory broken, see above; nothing was changed")
    console.print(f"policies: none is broken{f', {len(verdicts)} notes' if verdicts else ''}")


def _tree(resources: "Sequence[Resource]", *, brief: bool) -> Tree:
    children: defaultdict[str | None, list[Resource]] = defaultdict(list)
    known = {resource.urn for resource in resources}
    for resource in sorted(resources, key=lambda each: (each.type, each.name)):
        children[resource.parent if resource.parent in known else None].append(resource)

    def grow(branch: Tree, parent: str | None) -> None:
        for resource in children[parent]:
            label = Text.assemble((resource.type.rpartition(":")[2], "bold"), " ", resource.name)
            if brief:
                # One line each: what does not fit is in `render`.
                label.append(f"  {_line(resource.inputs)}", "dim")
                label.no_wrap, label.overflow = True, "ellipsis"
            elif resource.urn not in children:
                label.append(f"\n{_yaml(resource.inputs)}", "dim")
            grow(branch.add(label), resource.urn)

    root = Tree("[dim]what the engine will be asked for[/]")
    grow(root, None)
    return root


def _line(inputs: Any) -> str:
    interesting = {key: value for key, value in inputs.items() if key not in {"apiVersion", "kind", "environment"}}
    return " ".join(_yaml(interesting, flow=True).split()) if interesting else ""


def _told(value: Any) -> Any:
    """Put the wire's marks of secrets and of what is not known yet into words."""
    from twin.aws.wire import SIGNATURE, UNKNOWN_TEXT

    if isinstance(value, dict):
        if SIGNATURE in value:
            return "(secret)"
        return {key: _told(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_told(entry) for entry in value]
    return "(known once it is made)" if value == UNKNOWN_TEXT else value


def _yaml(value: Any, *, flow: bool = False) -> str:
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return yaml.dump(_told(value), Dumper=dumper, default_flow_style=flow, width=10_000 if flow else 120).strip()
