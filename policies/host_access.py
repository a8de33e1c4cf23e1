"""Laws about workloads that reach for their node."""

from dataclasses import dataclass

from model import laws
from policies.fields import Field
from policies.pods import Pod
from policies.rules import Option, Report, ResourceRule, Severity, Stack, StackRule, rule
from policies.scopes import of_system


@rule(StackRule, laws.HOST_ACCESS)
def host_access(stack: Stack, report: Report) -> None:
    """Judge the pods outside of the namespaces of the system, whose agents manage nodes."""
    judge = _Judge(stack, report)
    for resource in stack.resources:
        for pod in resource.pods.pods:
            with report.reading(resource.urn):
                if not of_system(pod, report):
                    judge.pod(pod, resource.urn)


@dataclass
class _Judge:
    """Judges pods; what cannot be read of one part keeps nobody from the next."""

    stack: Stack
    report: Report

    def pod(self, pod: Pod, urn: str) -> None:
        """Judge a pod."""
        with self.report.reading(urn):
            self._network(pod, urn)
        for key, why in laws.OF_NODE.items():
            with self.report.reading(urn):
                if pod.spec[key].boolean():
                    self.report.violation(pod.spec[key], why, urn)
        with self.report.reading(urn):
            for volume in pod.spec["volumes"].items():
                with self.report.reading(urn):
                    if volume["hostPath"].members():
                        self.report.violation(volume["hostPath"], "is a folder of the node", urn)

    def _network(self, pod: Pod, urn: str) -> None:
        # Not at the top: the model behind it would double the time that the pack needs to start.
        from model.nodes import POOL_LABEL

        field = pod.spec["hostNetwork"]
        if field.boolean():
            if not self._in_network_of_node(pod.spec["nodeSelector"][POOL_LABEL].text()):
                self.report.violation(field, "uses the network of the node", urn)
            return  # the ports of the pod are those of the node then
        for container in pod.containers:
            with self.report.reading(urn):
                for port in container["ports"].items():
                    with self.report.reading(urn):
                        number = port["hostPort"].quantity()
                        if number is not None and number.value:
                            self.report.violation(port["hostPort"], f"takes port {port['hostPort']} of the node", urn)

    def _in_network_of_node(self, pool: str | None) -> bool:
        """Whether a pool's fabric is used from there."""
        from model import fabric  # late, as above

        environment = self.stack.environment
        return environment is not None and pool in fabric.in_network_of_node(environment)


@rule(
    ResourceRule,
    types=tuple(f"kubernetes:core/v1:PersistentVolume{form}" for form in ("", "Patch", "List")),
    id="host-volumes",
    severity=Severity.HIGH,
    what="No persistent volume is a folder of a node, but for those that the environment names.",
    why=(
        "Whoever claims it has the folder: the keys of the kubelet, the disks of others. That the pod mounts a folder "
        "of its node nobody sees, for it names a claim only."
    ),
    fix=(
        "Use `local` for disks of nodes, or the driver of the file system. Name folders where nodes have a shared file "
        "system mounted in the option `folders`."
    ),
    link="https://kubernetes.io/docs/concepts/storage/volumes/#hostpath",
    options={
        "folders": Option(list, (), "Folders of nodes that may be volumes, such as `/mnt/shared/*`: `*` is any text.")
    },
)
def host_volumes(volume: Field, report: Report) -> None:
    """Judge the folder of a volume."""
    folder = volume.at("spec", "hostPath", "path")
    said = folder.text()
    if said is None:
        return
    named = report.listed("folders", said)
    # A folder above is in the path, not in the name.
    if not named or ".." in said.split("/"):
        report.violation(folder, f"{folder} is a folder of the node")


RULES = (host_access, host_volumes)
