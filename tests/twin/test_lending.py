"""Volcano's real programs, lent to pods that name their images: configuration, admission, restarts, rights."""

import os
import signal
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import volcano_objects
from cluster_helpers import eventually, is_ready, look_up
from lightkube import Client
from lightkube.core.exceptions import ApiError
from lightkube.generic_resource import create_global_resource, create_namespaced_resource
from lightkube.models.core_v1 import Container, PodSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import ConfigMap, Pod
from lightkube.resources.rbac_authorization_v1 import ClusterRoleBinding

from twin.cluster import Twin
from twin.keeper import Keeper
from twin.status import LoanStatus

SPACE = volcano_objects.NAMESPACE
VolcanoJob = create_namespaced_resource("batch.volcano.sh", "v1alpha1", "Job", "jobs")
Queue = create_global_resource("scheduling.volcano.sh", "v1beta1", "Queue", "queues")


@pytest.fixture(scope="module", autouse=True)
def client(volcano: Client) -> Client:
    return volcano


def loans(twin: Twin) -> dict[str, LoanStatus]:
    return {loan.process: loan for loan in twin.status().loans}


def pod_of(client: Client, app: str) -> dict[str, Any]:
    pods = [pod.to_dict() for pod in client.list(Pod, namespace=SPACE, labels={"app": app})]
    (alive,) = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
    return alive


def queue(name: str, **spec: Any) -> Any:
    return Queue(metadata=ObjectMeta(name=name), spec={"parent": "root", "weight": 1, **spec})


def test_the_scheduler_makes_its_queues_and_the_controllers_open_them(client: Client) -> None:
    for name in ("root", "default"):
        eventually(lambda name=name: look_up(client, Queue, name).get("status", {}).get("state") == "Open", what=name)


def test_deployments_become_available_and_the_hook_completes(client: Client) -> None:
    for name in ("admission", "controllers", "scheduler"):
        eventually(
            lambda name=name: (
                look_up(client, Deployment, f"volcano-{name}", SPACE)["status"].get("availableReplicas") == 1
            )
        )
    assert look_up(client, Job, "volcano-admission-init", SPACE)["status"]["succeeded"] == 1


def test_admission_speaks_through_the_service_with_the_charts_own_certificate(client: Client) -> None:
    with pytest.raises(ApiError, match=r"validatequeue\.volcano\.sh"):
        client.create(queue("wrong", capability={"cpu": "1"}, deserved={"cpu": "2"}))
    client.create(queue("right", capability={"cpu": "2"}, deserved={"cpu": "1"}))


def test_processes_run_with_their_own_arguments_and_the_differences_are_listed(twin: Twin) -> None:
    loan = loans(twin)["vc-webhook-manager"]
    differing = {difference.what: difference for difference in loan.differences}
    assert set(differing) == {
        "image",
        "--port",
        "--healthz-address",
        "--listen-address",
        "--kubeconfig",
        "--tls-cert-file",
        "--tls-private-key-file",
        "--ca-cert-file",
        "--admission-conf",
    }
    assert differing["--port"].own == "8443"
    assert loan.ports[8443] == int(differing["--port"].lent)
    assert f"service account {SPACE}/volcano-admission" in differing["--kubeconfig"].why
    pid = Keeper(twin.paths).processes()["vc-webhook-manager"].pid
    running = Path(f"/proc/{pid}/cmdline").read_text().split("\0")[1:-1]
    kept = [argument for argument in running if argument.partition("=")[0] not in differing]
    own = [
        argument
        for argument in volcano_objects.admission()["spec"]["template"]["spec"]["containers"][0]["args"]
        if argument.partition("=")[0] not in differing
    ]
    assert kept == own


def test_a_gang_is_placed_by_volcano_and_runs_on(client: Client) -> None:
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10"}]}
    task = {"name": "worker", "replicas": 2, "template": {"spec": pod}}
    spec = {"schedulerName": "volcano", "queue": "default", "minAvailable": 2, "tasks": [task]}
    client.create(VolcanoJob(metadata=ObjectMeta(name="gang", namespace="default"), spec=spec))
    eventually(lambda: look_up(client, VolcanoJob, "gang", "default").get("status", {}).get("running") == 2)
    time.sleep(2)  # KWOK's own stage would have completed its pods by now
    for number in range(2):
        assert look_up(client, Pod, f"gang-worker-{number}", "default")["status"]["phase"] == "Running"
    client.delete(VolcanoJob, "gang", namespace="default")


def test_a_changed_configuration_reaches_the_running_scheduler(twin: Twin, client: Client) -> None:
    pid = Keeper(twin.paths).processes()["vc-scheduler"].pid
    changed = volcano_objects.LIBERAL.replace("allocate, backfill", "allocate, preempt, backfill")
    client.patch(
        ConfigMap, "volcano-scheduler-configmap", {"data": {"volcano-scheduler.conf": changed}}, namespace=SPACE
    )
    log = twin.paths.log("vc-scheduler")
    eventually(lambda: "actions=[enqueue allocate preempt backfill]" in log.read_text(errors="replace"))
    assert Keeper(twin.paths).processes()["vc-scheduler"].pid == pid, "it was not restarted for that"


def test_a_process_that_dies_makes_its_pod_unready_until_it_answers_again(twin: Twin, client: Client) -> None:
    before = pod_of(client, "volcano-controllers")
    pid = Keeper(twin.paths).processes()["vc-controller-manager"].pid
    assert pid
    os.kill(pid, signal.SIGSTOP)  # it lives, but does not answer
    eventually(lambda: not is_ready(pod_of(client, "volcano-controllers")), what="unready while it hangs")
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: is_ready(pod_of(client, "volcano-controllers")), what="ready again")
    after = pod_of(client, "volcano-controllers")
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["status"]["containerStatuses"][0]["restartCount"] == 1
    assert Keeper(twin.paths).processes()["vc-controller-manager"].pid != pid


def test_scaled_to_nothing_its_process_ends_and_webhooks_say_why_they_fail(twin: Twin, client: Client) -> None:
    scale(client, "volcano-admission", 0)
    eventually(lambda: "vc-webhook-manager" not in Keeper(twin.paths).processes())
    # On a busy machine the service lists the endpoint a moment longer.
    says = "volcano-admission-service has no ready endpoint for port 443"
    eventually(lambda: says in refusal(client, queue("nobody-looks")), what=says)
    scale(client, "volcano-admission", 2)
    eventually(lambda: {"vc-webhook-manager", "vc-webhook-manager-2"} <= set(Keeper(twin.paths).processes()), 30)
    eventually(lambda: all(loan.ready for loan in loans(twin).values()), 30)
    client.create(queue("both-look"))
    scale(client, "volcano-admission", 1)
    eventually(lambda: len(loans(twin)) == 3)


def refusal(client: Client, wanted: Any) -> str:
    """Why the API server refuses to make something."""
    with pytest.raises(ApiError) as refused:
        client.create(wanted)
    return str(refused.value)


def scale(client: Client, name: str, replicas: int) -> None:
    client.patch(Deployment, name, {"spec": {"replicas": replicas}}, namespace=SPACE)


def test_it_acts_with_the_rights_of_its_own_service_account(twin: Twin, client: Client) -> None:
    binding = client.get(ClusterRoleBinding, "volcano-controllers")
    client.delete(ClusterRoleBinding, "volcano-controllers")
    try:
        pid = Keeper(twin.paths).processes()["vc-controller-manager"].pid
        assert pid
        os.kill(pid, signal.SIGKILL)
        log = twin.paths.log("vc-controller-manager")
        account = f'User "system:serviceaccount:{SPACE}:volcano-controllers" cannot list resource'
        eventually(lambda: account in log.read_text(errors="replace").replace('\\"', '"'), 20, "RBAC refuses it")
    finally:
        binding.metadata = ObjectMeta(name="volcano-controllers")
        client.create(binding)


def test_a_lender_that_dies_starts_over_and_ends_up_the_same(twin: Twin, client: Client) -> None:
    keeper = Keeper(twin.paths)
    lender, scheduler = (keeper.processes()[name].pid for name in ("lender", "vc-scheduler"))
    assert lender
    os.kill(lender, signal.SIGKILL)
    eventually(
        lambda: "vc-scheduler" in (now := keeper.processes()) and now["vc-scheduler"].pid not in (None, scheduler)
    )
    eventually(lambda: len(loans(twin)) == 3 and all(loan.ready for loan in loans(twin).values()), 30)
    eventually(lambda: is_ready(pod_of(client, "volcano-scheduler")))


def test_what_cannot_be_lent_stays_unready_and_says_why(twin: Twin, client: Client) -> None:
    image = f"docker.io/volcanosh/vc-webhook-manager:{volcano_objects.VERSION}"
    container = Container("main", image=image, command=["./something-else.sh"])
    client.create(Pod(metadata=ObjectMeta(name="odd", namespace="default"), spec=PodSpec(containers=[container])))
    expected = "the twin does not know the command something-else.sh of this image"
    eventually(lambda: any(loan.pod == "default/odd" and loan.problem == expected for loan in loans(twin).values()))
    statuses = eventually(lambda: look_up(client, Pod, "odd", "default")["status"].get("containerStatuses"))
    assert statuses[0]["state"]["waiting"]["message"] == expected
    client.delete(Pod, "odd", namespace="default")
    eventually(lambda: all(loan.pod != "default/odd" for loan in loans(twin).values()))


def test_a_stolen_port_is_left_to_the_thief(twin: Twin, client: Client) -> None:
    keeper = Keeper(twin.paths)
    before = loans(twin)["vc-controller-manager"].ports[11251]
    with socket.socket() as thief:
        thief.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        eventually(lambda: steal(keeper, thief, before), what="the thief is quicker than the keeper")
        eventually(lambda: loans(twin)["vc-controller-manager"].ports.get(11251) not in (None, before), 30)
        eventually(lambda: loans(twin)["vc-controller-manager"].ready, 30)


def steal(keeper: Keeper, thief: socket.socket, port: int) -> bool:
    """End the process and try to take its port before it is started again."""
    if pid := keeper.processes()["vc-controller-manager"].pid:
        os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + 0.2
    while time.monotonic() < deadline:
        with suppress(OSError):
            thief.bind(("127.0.0.1", port))
            thief.listen()
            return True
    return False
