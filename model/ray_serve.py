"""What is wrong with Ray Serve's own configuration: only what Serve itself would refuse, when everything runs.

Sources: https://github.com/ray-project/ray, python/ray/serve/schema.py (ServeApplicationSchema, ServeDeploySchema) and
python/ray/_common/utils.py (import_module_and_attr).
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from .problems import ABSENT, Path, Problem

_NAME = r"[^\W\d]\w*"
_IMPORT_PATH = re.compile(rf"(?P<module>{_NAME}(?:\.{_NAME})*)[.:]{_NAME}")
_OF_FILE = re.compile(rf"(?P<file>[\w./-]+)\.py(?:[:.](?P<variable>{_NAME}))?")
_ALLOWED = "module:variable, such as answers.app:model"


def values(at: Path, serve: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong with a configuration that stands at a place."""
    applications = serve.get("applications")
    if not isinstance(applications, list) or not applications:
        message = "a service has at least one application"
        yield Problem(at, serve, message, "applications: [{name: …, import_path: …}]")
        return
    seen: dict[tuple[str, object], int] = {}
    for index, application in enumerate(applications):
        here = (*at, "applications", index)
        if not isinstance(application, dict):
            yield Problem(here, application, "must be a mapping", "{name: …, import_path: …}")
            continue
        yield from _import_path((*here, "import_path"), application.get("import_path", ABSENT))
        for key, default, rule in (("name", "default", _name), ("route_prefix", "/", _route)):
            value = application.get(key, default)
            if found := [*rule((*here, key), value)]:
                yield from found
            elif value is not None and (first := seen.setdefault((key, value), index)) != index:
                message = f"applications {first} and {index} have the same {key}"
                yield Problem(here, value, message, f"each {key} once")


def _import_path(at: Path, path: object) -> Iterator[Problem]:
    text = path if isinstance(path, str) else ""
    if of_file := _OF_FILE.fullmatch(text):
        module = re.sub(r"[./]+", ".", of_file["file"]).strip(".")
        fix = f"{module}:{of_file['variable'] or '…'}"
        yield Problem(at, path, "names a file, and Serve imports a module", _ALLOWED, fix)
    elif not _IMPORT_PATH.fullmatch(text):
        message = "an application has an import_path: its module and, after a colon, the variable in it"
        yield Problem(at, path, message, _ALLOWED)


def _name(at: Path, name: object) -> Iterator[Problem]:
    if not isinstance(name, (str, int)) or name == "":
        yield Problem(at, name, "must be a name", "text, each name once")


def _route(at: Path, route: object) -> Iterator[Problem]:
    if route is None:  # not reached by HTTP
        return
    if not isinstance(route, str) or not route.startswith("/"):
        fix = f"/{route.strip('/')}" if isinstance(route, str) else None
        yield Problem(at, route, "must begin with /", "a path such as /chat", fix)
    elif route != "/" and route.endswith("/"):
        yield Problem(at, route, "must not end with /", "a path such as /chat, or / alone", route.rstrip("/") or "/")
    elif "{" in route or "}" in route:
        yield Problem(at, route, "must not contain { or }: a prefix has no wildcards", "a path such as /chat")
