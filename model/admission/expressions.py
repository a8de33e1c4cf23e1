"""The laws about workloads in CEL. Each is a text: what is wrong with the object, nothing where it is right.

`tests/policies` judges the same objects by the rules of the pack, and by these.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from model import fabric, laws, queue_labels, queue_places, tenants
from model.admission.cel import KIND, joined, literal, names, per_container, per_pod, pods, texts
from model.gpu_requests import ANY_MAKERS, MIG, MPS_PIPES, NOTHING_VISIBLE, SHARED, SHARED_MEMORY, VISIBLE
from model.image_names import TAG
from model.nodes import POOL_LABEL
from model.pod_templates import CORE, TEMPLATES
from model.queue_places import Naming, Place

if TYPE_CHECKING:
    from model.environment import Environment

_GPU = f"r'^({ANY_MAKERS})$'"
_LIMITS = "container.?resources.?limits.orValue({})"
_REQUESTS = "container.?resources.?requests.orValue({})"


def _whole(amount: str) -> str:
    # `isInteger` says no to 1000m.
    return f"quantity({amount}).compareTo(quantity(string(int(quantity({amount}).asApproximateFloat() + 0.5)))) == 0"


def _resources(of: str, where: str, says: str) -> str:
    """What is wrong with resources of a container, by `name`."""
    return f"{of}.filter(name, {where}).map(name, name + ': ' + {says})"


def _amount(of: str) -> str:
    return f"string({of}[name])"


def _uses_gpus(pod: str) -> str:
    asked = f"{_LIMITS}.exists(name, name.matches({_GPU})) || {_REQUESTS}.exists(name, name.matches({_GPU}))"
    containers = "(pod.?spec.?initContainers.orValue([]) + pod.?spec.?containers.orValue([]))"
    return f"{pod}.filter(pod, {containers}.exists(container, {asked}))"


_POD_GROUP = "scheduling.volcano.sh/PodGroup"
_KINDS = (*TEMPLATES, ("scheduling.volcano.sh", "PodGroup"))


def _key(group: str, kind: str) -> str:
    return names(("" if group == CORE else group, kind))


def _by_naming(env: "Environment", says: Callable[[Naming], str]) -> str:
    """An expression that is of one shape for all kinds that name their queue in the same way."""
    kinds: dict[str, list[str]] = {}
    for group, kind in _KINDS:
        kinds.setdefault(f"({says(queue_places.naming(env.scheduler.kind, group, kind))})", []).append(
            _key(group, kind)
        )
    *others, found = sorted(kinds, key=lambda shape: len(kinds[shape]))
    for shape in reversed(others):
        found = f"variables.kind in {texts(kinds[shape])} ? {shape} : {found}"
    return f"({found})"


def _named(place: Place) -> str:
    """What an object names at a place for one `pod` of it, an empty text for nothing."""
    *path, last = place.path
    at = "".join(f".?{key}" for key in path)
    return f"{'pod' if place.in_pods else 'object'}{at}[?{literal(last)}].orValue('')"


def _queues(pods: str) -> Callable[[Naming], str]:
    """The queues that an object names for some of its pods, in every place that its scheduler reads."""

    def of(naming: Naming) -> str:
        lists = [
            f"{pods}.map(pod, {_named(place)})" if place.in_pods else f"[{_named(place)}]" for place in naming.places
        ]
        return " + ".join(lists) or "[]"

    return of


def variables(env: "Environment") -> Mapping[str, str]:
    """What several laws ask, by name. One may use those before it."""
    queues, of_gpu_pods = (_by_naming(env, _queues(f"variables.{pods}")) for pods in ("pods", "gpuPods"))
    return {
        "kind": KIND,
        "pods": pods(),
        "gpuPods": _uses_gpus("variables.pods"),
        "queues": queues,
        # A group of pods does not say whether they use GPUs.
        "gpuQueues": (
            f"variables.kind == {literal(_POD_GROUP)} ? variables.queues"
            f" : variables.gpuPods.size() == 0 ? [] : {of_gpu_pods}"
        ),
        "allowed": f"namespaceObject.metadata.?annotations[?{literal(tenants.QUEUES)}].orValue('').split(',')",
    }


def _gpu_limits() -> str:
    limit, request = _amount(_LIMITS), _amount(_REQUESTS)
    is_gpu = f"name.matches({_GPU})"
    faults = [
        _resources(_LIMITS, f"{is_gpu} && !({_whole(limit)})", f"{limit} + ' is not a whole number of GPUs'"),
        _resources(_REQUESTS, f"{is_gpu} && !({_whole(request)})", f"{request} + ' is not a whole number of GPUs'"),
        _resources(_REQUESTS, f"{is_gpu} && !(name in {_LIMITS})", f"'requests ' + {request} + ' without a limit'"),
        _resources(
            _REQUESTS,
            f"{is_gpu} && name in {_LIMITS} && quantity({request}).compareTo(quantity({limit})) != 0",
            f"'requests ' + {request} + ', but the limit is ' + {limit}",
        ),
    ]
    return per_container(f"({' + '.join(faults)})")


def _gpu_parts() -> str:
    part = f"(name.endsWith({literal(SHARED)}) || name.startsWith({literal(MIG)}))"
    amount = _amount(_LIMITS)
    more = f"{_whole(amount)} && quantity({amount}).isGreaterThan(quantity('1'))"
    return per_container(
        _resources(
            _LIMITS,
            f"name.matches({_GPU}) && {part} && {more}",
            f"'asks for ' + {amount} + ', and a container gets one part only'",
        )
    )


def _unless_settled(faults: str) -> str:
    # When a pod is made its queue and its node are settled, and what operators make name it in ways of their own: a
    # container may be added to it for debugging.
    settled = f"variables.kind == {literal(_key(CORE, 'Pod'))} && request.operation == 'UPDATE'"
    return f"{settled} || variables.gpuPods.size() == 0 ? '' : {faults}"


def _gpu_queue(env: "Environment") -> str:
    return _unless_settled(joined(f"[{_by_naming(env, _unnamed)}, {_by_naming(env, _placed)}]"))


def _gpu_node() -> str:
    node = "pod.?spec.?nodeName.orValue('')"
    says = f"{node} == '' ? '' : 'goes to ' + {node} + ' past every scheduler'"
    return _unless_settled(per_pod(says, of="variables.gpuPods"))


def _unnamed(naming: Naming) -> str:
    if not naming.places:
        return "'a ' + request.kind.kind + ' cannot name a queue for its pods here'"
    nothing = " && ".join(f"{_named(place)} == ''" for place in naming.places)
    # Where `default` stands for a queue of the team, no name does so too.
    return (
        f"!({literal(queue_labels.DEFAULT)} in variables.allowed) && variables.gpuPods.exists(pod, {nothing})"
        " ? 'it uses GPUs and names no queue' : ''"
    )


def _placed(naming: Naming) -> str:
    if naming.scheduler is None:
        return "''"
    named = "pod.?spec.?schedulerName.orValue('default-scheduler')"
    if naming.above:
        above = "".join(f".?{key}" for key in naming.above)
        named = f"pod.?spec.?schedulerName.or(object{above}).orValue({literal(naming.scheduler)})"
    return per_pod(
        f"{named} == {literal(naming.scheduler)} ? '' : {named} + ' knows no queues'",
        of="variables.gpuPods",
    )


def _queue_allowed() -> str:
    default = literal(queue_labels.DEFAULT)
    foreign = f"variables.queues.filter(queue, !(queue in ['', {default}] + variables.allowed))"
    unpaid = f"variables.gpuQueues.filter(queue, queue == {default} && !(queue in variables.allowed))"
    says = (
        "'queue ' + queue + ' is none of those that ' + object.metadata.namespace + ' may use ('"
        " + variables.allowed.join(', ') + ')'"
    )
    return f"({foreign} + {unpaid}).map(queue, {says}).join('; ')"


def _gpu_visibility() -> str:
    wrong = f"has(variable.valueFrom) || !(variable.?value.orValue('') in {texts(NOTHING_VISIBLE)})"
    return per_container(
        f"container.?env.orValue([]).filter(variable, variable.name == {literal(VISIBLE)} && ({wrong}))"
        f".map(variable, {literal(VISIBLE)} + ' hands over GPUs that the pod was not given')"
    )


def _image_version() -> str:
    unclear = f"(image != '' && !image.contains('@') && (!image.matches(r'{TAG}') || image.endsWith(':latest')))"
    says = "image + ' names no version'"
    volumes = "pod.?spec.?volumes.orValue([]).map(volume, volume.?image.?reference.orValue(''))"
    mounted = per_pod(f"{volumes}.filter(image, {unclear}).map(image, 'volume: ' + {says}).join('; ')")
    run = per_container(f"[container.?image.orValue('')].filter(image, {unclear}).map(image, {says})")
    return joined(f"[{run}, {mounted}]")


def _privileged() -> str:
    granted = "container.?securityContext.?privileged.orValue(false) ? ['is privileged'] : []"
    process = ".?securityContext.?windowsOptions.?hostProcess.orValue(false)"
    host = literal("is a process of the host")
    containers = per_container(f"(({granted}) + (container{process} ? [{host}] : []))")
    whole = per_pod(f"pod.?spec{process} ? {host} : ''")
    return joined(f"[{containers}, {whole}]")


def _host_access(pools: Iterable[str]) -> str:
    network = "pod.?spec.?hostNetwork.orValue(false)"
    pool = f"pod.?spec.?nodeSelector[?{literal(POOL_LABEL)}].orValue('') in {texts(pools)}"
    faults = [
        f"({network} && !({pool}) ? ['hostNetwork: uses the network of the node'] : [])",
        *(
            f"(pod.?spec.?{key}.orValue(false) ? [{literal(f'{key}: {why}')}] : [])"
            for key, why in laws.OF_NODE.items()
        ),
        (
            "pod.?spec.?volumes.orValue([]).filter(volume, has(volume.hostPath))"
            ".map(volume, 'volume ' + volume.name + ' is a folder of the node')"
        ),
    ]
    of_pods = per_pod(f"({' + '.join(faults)}).join('; ')")
    # In the network of the node the API server writes the port of the node itself.
    ports = (
        f"({network} ? [] : container.?ports.orValue([]).filter(port, port.?hostPort.orValue(0) != 0)"
        ".map(port, 'takes port ' + string(port.hostPort) + ' of the node'))"
    )
    return joined(f"[{of_pods}, {per_container(ports)}]")


def _mps_pods(pools: Iterable[str]) -> str:
    shares = f"{_LIMITS}.exists(name, name.endsWith({literal(SHARED)}))"
    memory = f"mount.mountPath in {texts((SHARED_MEMORY, f'{SHARED_MEMORY}/'))}"
    faults = [
        (
            f"container.?volumeMounts.orValue([]).filter(mount, {memory})"
            f".map(mount, mount.mountPath + ' must be that of the MPS server')"
        ),
        (
            f"container.?env.orValue([]).filter(variable, variable.name == {literal(MPS_PIPES)})"
            ".map(variable, variable.name + ' is for the device plugin to set')"
        ),
        "(pod.?spec.?hostIPC.orValue(false) ? ['hostIPC brings the memory of the node'] : [])",
    ]
    on = f"pod.?spec.?nodeSelector[?{literal(POOL_LABEL)}].orValue('') in {texts(pools)}"
    return per_container(f"({shares} ? {' + '.join(faults)} : [])", of=f"variables.pods.filter(pod, {on})")


def expressions(env: "Environment") -> dict[str, str]:
    """The expression of each law, by its id. Laws about what an environment does not have are left out."""
    found = {
        laws.GPU_LIMITS.id: _gpu_limits(),
        laws.GPU_PARTS.id: _gpu_parts(),
        laws.GPU_QUEUE.id: _gpu_queue(env),
        laws.GPU_NODE.id: _gpu_node(),
        laws.QUEUE_ALLOWED.id: _queue_allowed(),
        laws.GPU_VISIBILITY.id: _gpu_visibility(),
        laws.IMAGE_VERSION.id: _image_version(),
        laws.PRIVILEGED.id: _privileged(),
        laws.HOST_ACCESS.id: _host_access(fabric.in_network_of_node(env)),
    }
    if mps := _mps(env):
        found[laws.MPS_PODS.id] = _mps_pods(mps)
    return found


def _mps(env: "Environment") -> list[str]:
    return [name for name, pool in env.pools.items() if pool.plan is not None and pool.plan.mps is not None]
