"""What is wrong with Ray clusters, jobs and services, beyond what any workload may have wrong."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import bounds, image_names, names, ray_serve
from .counts import MOST_RESTARTS, Size, bounded, fewest, most
from .durations import Duration
from .gang_rules import written
from .gangs import gang, twice
from .problems import NOTHING, Problem, Subject, answered, each, known, lost
from .ray import RayCluster, RayJob, RayService, RayWorkload

if TYPE_CHECKING:
    from .environment import Environment

CLUSTER, JOB_OR_SERVICE = names.dns_1035(53), names.dns_1035(47)
"""KubeRay refuses longer names, because of what it makes from them: services, pods, and of jobs and services a cluster
(ray-operator/controllers/ray/utils/constant.go, MaxRayClusterNameLength and those beside it)."""
_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")
_RAYS_OWN = re.compile(r"(?:.*/)?rayproject/ray[^/]*")
"""Repositories whose tags begin with a version of Ray, on a mirror, too. The tags of a team's own image are its own."""
_LONGEST = Duration.parse("24855d")
"""Whole days of `ttlSecondsAfterFinished`, an int32."""
_OF_REDIS, _SECOND_AUTOSCALER = ("RAY_REDIS_ADDRESS", "REDIS_USERNAME"), "RAY_enable_autoscaler_v2"
_CLUSTERS, _JOBS, _SERVICES = ("ray", "clusters"), ("ray", "jobs"), ("ray", "services")


def values(env: "Environment") -> Iterator[Problem]:
    """What is wrong with each by itself."""
    yield from answered(each, _CLUSTERS, env.ray.clusters, env, _cluster_name, _version, _some_workers, _variables)
    yield from answered(
        each, _JOBS, env.ray.jobs, env, _name, _version, _some_workers, _variables, _entrypoint, _restarts, _ttl
    )
    yield from answered(each, _SERVICES, env.ray.services, env, _name, _version, _some_workers, _variables, _serve)


def references(env: "Environment") -> Iterator[Problem]:
    """Images that are none, or of another Ray."""
    for at, group in ((_CLUSTERS, env.ray.clusters), (_JOBS, env.ray.jobs), (_SERVICES, env.ray.services)):
        yield from answered(each, at, group, env, _image)


def limits(env: "Environment") -> Iterator[Problem]:
    """Things of one namespace for which KubeRay would make another by one name, and jobs that end with a node."""
    yield from answered(each, _JOBS, env.ray.jobs, env, _one_name, _spot)
    yield from answered(each, _SERVICES, env.ray.services, env, _one_name)


def fits(env: "Environment") -> Iterator[Problem]:
    """Services that could not be upgraded."""
    yield from answered(each, _SERVICES, env.ray.services, env, _upgrade)


def _cluster_name(it: Subject[RayCluster]) -> Iterator[Problem]:
    if fault := CLUSTER.fault(it.name):
        yield Problem(it.at, it.name, fault, CLUSTER.allowed, spoils=NOTHING)


def _name(it: Subject[RayJob] | Subject[RayService]) -> Iterator[Problem]:
    if fault := JOB_OR_SERVICE.fault(it.name):
        yield Problem(it.at, it.name, fault, JOB_OR_SERVICE.allowed, spoils=NOTHING)


def _version(it: Subject[Any]) -> Iterator[Problem]:
    if not _VERSION.fullmatch(known(it.value.ray)):
        yield Problem((*it.at, "ray"), it.value.ray, "must be one exact version", 'such as "2.52.0"')


def _image(it: Subject[Any]) -> Iterator[Problem]:
    workload: RayWorkload = it.value
    image, version = known(workload.image), known(workload.ray)
    if image is None:
        return
    at, reference = (*it.at, "image"), image_names.parse(image)
    if reference is None:
        yield Problem(at, image, "is no image reference", image_names.ALLOWED, f"rayproject/ray:{version}")
        return
    own, repository, tag = _RAYS_OWN.fullmatch(reference.repository), reference.repository, reference.tag or ""
    if not reference.exact:
        message = "names no exact image, so pods of one cluster may differ"
        yield Problem(at, image, message, image_names.ALLOWED, f"{repository}:{version if own else '…'}")
    elif own and (tagged := _VERSION.match(tag)) and tagged[0] != version:
        message = f"has Ray {tagged[0]}, the cluster says {version}"
        fix = f"{repository}:{version}{tag[tagged.end() :]}"
        yield Problem(at, image, message, f"Ray {version} in both", fix)


def _variables(it: Subject[RayWorkload]) -> Iterator[Problem]:
    """What KubeRay refuses after the API server took it.

    A REDIS_PASSWORD it takes, since no document asks it to keep the head's state in Redis
    (ray-operator/controllers/ray/utils/validation.go, ValidateRayClusterSpec).
    """
    at, variables = (*it.at, "env"), known(it.value.env)
    for name in _OF_REDIS:
        if name in variables:
            message = "KubeRay refuses a cluster that has it: the head's state is not kept in Redis here"
            yield Problem((*at, name), known(variables[name]), message, "no such variable", "leave it out")
    second = variables.get(_SECOND_AUTOSCALER)
    if second is not None and known(second) in ("1", "true") and not isinstance(known(it.value.workers.count), Size):
        message = "KubeRay refuses it without an autoscaler, which workers.count: {min: …, max: …} brings"
        yield Problem((*at, _SECOND_AUTOSCALER), second, message, "no such variable", "leave it out")


def _entrypoint(it: Subject[RayJob]) -> Iterator[Problem]:
    if not known(it.value.entrypoint).strip():
        yield Problem((*it.at, "entrypoint"), it.value.entrypoint, "must be a command", "such as python train.py")


def _restarts(it: Subject[RayJob]) -> Iterator[Problem]:
    yield from bounded((*it.at, "restarts"), known(it.value.restarts), MOST_RESTARTS)


def _ttl(it: Subject[RayJob]) -> Iterator[Problem]:
    ttl = known(it.value.ttl)
    if ttl is not None and ttl.seconds > _LONGEST.seconds:
        yield Problem((*it.at, "ttl"), ttl.text, f"is more than {_LONGEST}", f"up to {_LONGEST}")


def _some_workers(it: Subject[RayWorkload]) -> Iterator[Problem]:
    """The head has no cores for Ray to use. With {min, max} none may stand there until there is work."""
    count, at = known(it.value.workers.count), (*it.at, "workers", "count")
    if fewest(count) == most(count) == 0:
        at = (*at, "max") if isinstance(count, Size) else at
        yield Problem(at, 0, f"a {it.value.called} without workers does nothing", "1 or more")


def _spot(it: Subject[RayJob]) -> Iterator[Problem]:
    """Ray itself outlives a worker, so this is no error as for training jobs; the program goes with the head."""
    if it.env.pools[it.value.pool].capacity.kind == "spot" and known(it.value.restarts) == 0:
        message = (
            f"nodes of pool {it.value.pool} are spot: when that of the head goes, at short notice, the job has failed"
        )
        allowed = "1 or more, or a pool that is not spot"
        yield Problem((*it.at, "restarts"), 0, message, allowed, "restarts: 10", severity="warning")


def _one_name(it: Subject[RayJob] | Subject[RayService]) -> Iterator[Problem]:
    """KubeRay names the way to a head after its object, whatever the kind, and who comes last turns it to its own head.

    Source: ray-operator/controllers/ray/utils/util.go, GenerateHeadServiceName; rayjob_controller.go and
    rayservice_controller.go, reconcileServices. The gang of a job is called as that of a cluster, too: `ray-<name>-pg`.
    """
    ray, job = it.env.ray, isinstance(it.value, RayJob)
    for others in (ray.clusters,) if job else (ray.clusters, ray.jobs):
        other = others.get(it.name)
        if other is not None and not lost(other) and other.namespace == it.value.namespace:
            shared = f"{'gang and the same ' if job else ''}Service {it.name}-head-svc"
            message = f"a {other.called} of namespace {other.namespace} has this name, and both would have the same"
            yield Problem(it.at, it.name, f"{message} {shared}", "another name", spoils=NOTHING)
            return


def _serve(it: Subject[RayService]) -> Iterator[Problem]:
    yield from ray_serve.values((*it.at, "serve"), known(it.value.serve))


def _upgrade(it: Subject[RayService]) -> Iterator[Problem]:
    """A gang that fits once, on a service whose upgrades need it twice."""
    if it.value.upgrade != "NewCluster":
        return
    one = gang(it.env, it.at)
    two = twice(one)
    found = bounds.shared(it, two)
    if any(bound.workers < one.workers for bound in bounds.bounds(it)):
        return
    if broken := [bound for bound in found if bound.workers < two.workers]:
        told = "; ".join(bound.broken_by(two.workers) for bound in broken)
        message = f"an upgrade runs a second cluster beside the first, and both never fit: {told}"
        allowed = f"half of it for {written(it.value.workers.count)} workers, or upgrade: Recreate"
        yield Problem((*it.at, "upgrade"), it.value.upgrade, message, allowed, "upgrade: Recreate")
