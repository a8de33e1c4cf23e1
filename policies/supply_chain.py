"""Laws about where images and charts come from, and that the same ones come again."""

import re
from fnmatch import fnmatchcase

from policies.agents import RELEASES
from policies.fields import Field
from policies.images import images
from policies.pods import Pod
from policies.rules import Level, Option, PodRule, Report, ResourceRule, Severity, rule

_NAMES = "https://kubernetes.io/docs/concepts/containers/images/"
_DOCKER = "docker.io"
_EXACT = re.compile(r"v?[0-9]+\.[0-9]+\.[0-9]+(?:[-+][0-9A-Za-z.+-]+)?")
_EARLY = re.compile(r"-(?:alpha|beta|rc|dev|snapshot)", re.IGNORECASE)


@rule(
    PodRule,
    id="image-digest",
    severity=Severity.MEDIUM,
    what="Images of the repositories that the environment names are written with their digest.",
    why=(
        "A tag can be pushed again: then a pod that starts anew in the night runs code that nobody has reviewed, and "
        "one gang runs two versions of it."
    ),
    fix="Write `image@sha256:…`; the registry shows the digest of each tag.",
    link=_NAMES,
    options={
        "repositories": Option(
            list, (), "Repositories, such as `registry.example.org/*`; `*` for all images. None when empty."
        )
    },
)
def image_digest(pod: Pod, report: Report) -> None:
    """Judge the images that are meant to be pinned."""
    if not report.options["repositories"]:
        return
    for image, name in images(pod, report):
        repository = _repository(name)
        if "@sha256:" not in name and report.listed("repositories", repository):
            report.violation(image, f"{image} has no digest")


@rule(
    PodRule,
    id="image-registries",
    severity=Severity.HIGH,
    what="Images come from the registries that the environment allows.",
    why="What is pulled from anywhere else nobody has scanned, mirrors or keeps: it may be gone when a node needs it.",
    fix="Copy the image to an allowed registry and name it there, or allow its registry.",
    link=_NAMES,
    options={
        "allowed": Option(
            list, (), "Registries, or registries with a path: `registry.example.org/ml/*`. All when empty."
        )
    },
)
def image_registries(pod: Pod, report: Report) -> None:
    """Judge where the image of each container comes from."""
    allowed = report.options["allowed"]
    if not allowed:
        return
    for image, name in images(pod, report):
        repository = _repository(name)
        if not any(_within(repository, pattern.removesuffix("/*")) for pattern in allowed):
            report.violation(image, f"{image} is of {repository.partition('/')[0]}; allowed: {', '.join(allowed)}")


def _within(repository: str, pattern: str) -> bool:
    # Part by part: `*.example.org` is no folder of somebody else's registry.
    found, wanted = repository.split("/"), pattern.split("/")
    return len(wanted) <= len(found) and all(map(fnmatchcase, found, wanted))


def _repository(image: str) -> str:
    """Give the full name of an image without tag or digest: the first part is a registry if it looks like a host."""
    name = image.partition("@")[0]
    host, slash, path = name.partition("/")
    if not slash or ("." not in host and ":" not in host and host != "localhost"):
        # What names no registry is Docker's, and what names no project there belongs to its library.
        host, path = _DOCKER, name if slash else f"library/{name}"
    return f"{host}/{path.partition(':')[0]}"


@rule(
    PodRule,
    id="image-pull-policy",
    severity=Severity.LOW,
    level=Level.ADVISORY,
    what="Nodes pull an image when they do not have it, and only then.",
    why=(
        "With `Always` each pod of a gang asks the registry before it starts, again after each restart: 1,024 at once, "
        "and none starts while the registry is away. With `Never` a new node never gets the image. (Where a private "
        "image must be kept from other teams on the same nodes, `Always` has the registry ask who wants it.)"
    ),
    fix="Set `imagePullPolicy: IfNotPresent`, or leave it out: that is what an exact version means.",
    link=_NAMES,
)
def image_pull_policy(pod: Pod, report: Report) -> None:
    """Judge the policy of each container."""
    for container in pod.containers:
        with report.reading():
            policy = container["imagePullPolicy"]
            if policy.text() in ("Always", "Never"):
                report.violation(policy, f"{policy} is for images that change under one name, or are put there by hand")


@rule(
    ResourceRule,
    types=RELEASES,
    id="chart-versions",
    severity=Severity.MEDIUM,
    what="Charts from a repository have one exact version, and a released one.",
    why=(
        "Without a version each `up` takes the newest: an operator with other definitions and defaults, on the day "
        "when somebody changes a label."
    ),
    fix="Set `version` to a release, such as `1.15.1`.",
    link="https://www.pulumi.com/registry/packages/kubernetes/api-docs/helm/v3/release/",
)
def chart_versions(release: Field, report: Report) -> None:
    """Judge the version of a chart, unless it lies in a folder: then the folder is the version."""
    version = release["version"]
    said = version.text()
    if said is None:
        if not _local(release["chart"].text() or ""):
            report.violation(version, "says nothing, which means the newest")
    elif _EARLY.search(said):
        report.violation(version, f"{version} is no release")
    elif not _EXACT.fullmatch(said):
        report.violation(version, f"{version} is not one version")


def _local(chart: str) -> bool:
    return chart.startswith((".", "/")) or chart.endswith(".tgz")


RULES = (image_digest, image_registries, image_pull_policy, chart_versions)
