"""The laws about workloads in CEL. Each is a text: what is wrong with the object, nothing where it is right.

`tests/policies` judges the same objects by the rules of the pack, and by these.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from model import fabric, laws, queue_labels, tenants
from model.admission.cel import KIND, joined, literal, names, per_container, per_pod, pods, texts
from model.gpu_requests import ANY_MAKERS, MIG, MPS_PIPES, NOTHING_VISIBLE, SHARED, SHARED_MEMORY, VISIBLE
from model.image_names import TAG
from model.nodes import POOL_LABEL
from model.pod_templates import OPERATED

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


def _label(of: str, key: str) -> str:
    return f"{of}.?metadata.?labels[?{literal(key)}].orValue('')"


_POD_GROUP = "scheduling.volcano.sh/PodGroup"

_ANNOTATED = f"pod.?metadata.?annotations[?{literal(queue_labels.ANNOTATION)}].orValue('')"


def _queues(pods: str) -> str:
    """The queues that an object names for some of its pods, in every place where it names one.

    Where none of the labels does, a name that is missing is an empty text.
    """
    own = (
        "(variables.kind == 'ray.io/RayCronJob' ? []"
        f" : request.kind.group == 'ray.io' ? [{_label('object', queue_labels.VOLCANO)}]"
        " : variables.kind == 'batch.volcano.sh/CronJob' ? [object.?spec.?jobTemplate.?spec.?queue.orValue('')]"
        f" : request.kind.group in {texts(('batch.volcano.sh', 'flow.volcano.sh', 'scheduling.volcano.sh'))}"
        " ? [object.?spec.?queue.orValue('')]"
        f" : {pods}.map(pod, {_ANNOTATED}))"
    )
    labels = "[variables.kueue, variables.kai].filter(queue, queue != '')"
    return f"({labels} + {own}.filter(queue, queue != '' || variables.kueue + variables.kai == ''))"


VARIABLES: Mapping[str, str] = {
    # What several laws ask. One may use those before it.
    "kind": KIND,
    "pods": pods(),
    "gpuPods": _uses_gpus("variables.pods"),
    "kueue": _label("object", queue_labels.KUEUE),
    "kai": _label("object", queue_labels.KAI),
    "queues": _queues("variables.pods"),
    # A group of pods does not say whether they use GPUs.
    "gpuQueues": (
        f"variables.kind == {literal(_POD_GROUP)} ? variables.queues"
        f" : variables.gpuPods.size() == 0 ? [] : {_queues('variables.gpuPods')}"
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


def _gpu_queue() -> str:
    scheduler = (
        f"(variables.kai != '' ? {literal(queue_labels.KAI_SCHEDULER)} : {literal(queue_labels.VOLCANO_SCHEDULER)})"
    )
    other = f"variables.kueue != '' || request.kind.group in {texts(OPERATED)} ? '' : {_of_pods(scheduler)}"
    unnamed = (
        "variables.kind == 'ray.io/RayCronJob' && variables.kueue + variables.kai == ''"
        " ? 'a RayCronJob cannot name a queue for what it makes; make the jobs themselves'"
        # Where `default` stands for a queue of the team, no name does so too.
        f" : variables.gpuQueues.exists(queue, queue == '') && !({literal(queue_labels.DEFAULT)} in variables.allowed)"
        " ? 'it uses GPUs and names no queue' : ''"
    )
    # When a pod is made its queue is settled, and what operators make name it in ways of their own: a container may be
    # added to it for debugging.
    settled = f"variables.kind == {literal(names(('', 'Pod')))} && request.operation == 'UPDATE'"
    return f"{settled} || variables.gpuPods.size() == 0 ? '' : {joined(f'[{unnamed}, {other}]')}"


def _of_pods(scheduler: str) -> str:
    named = "pod.?spec.?schedulerName.orValue('default-scheduler')"
    return per_pod(
        f"{named} == {scheduler} ? '' : {named} + ' knows no queues'",
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
        "(pod.?spec.?hostPID.orValue(false) ? ['hostPID: sees all processes of the node'] : [])",
        "(pod.?spec.?hostIPC.orValue(false) ? ['hostIPC: shares memory with all processes of the node'] : [])",
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
        laws.GPU_QUEUE.id: _gpu_queue(),
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
