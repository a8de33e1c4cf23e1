"""From a container to a process: arguments, environment, files, ports, and the list of differences."""

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from lightkube import AsyncClient

from twin import loans, mounts
from twin.loans import Difference, LoanRefusedError, Mount, NotYetError

KUBECONFIG = Path("/twin/loans/x/kubeconfig")


def pod(*arguments: str, image: str = "quay.io/kuberay/operator:v1.6.2", **container: Any) -> dict[str, Any]:
    made = {"name": "main", "image": image, "args": list(arguments), **container}
    return {
        "metadata": {"name": "pod", "namespace": "space", "labels": {"app": "x"}},
        "spec": {"containers": [made], "serviceAccountName": "account"},
        "status": {},
    }


def plan(made: dict[str, Any], *, at: list[Mount] | None = None, **environment: str) -> loans.Loan:
    numbers = iter(range(20001, 30000))
    return loans.plan(
        made,
        made["spec"]["containers"][0],
        executable=Path("/tools/program"),
        kubeconfig=KUBECONFIG,
        mounts=at or [],
        environment=environment,
        port=lambda: next(numbers),
    )


def lent(loan: loans.Loan) -> dict[str, tuple[str, str]]:
    return {difference.what: (difference.own, difference.lent) for difference in loan.differences}


@pytest.mark.parametrize("written", [["--metrics-addr=:9090"], ["-metrics-addr", ":9090"], ["--metrics-addr", ":9090"]])
def test_addresses_are_replaced_however_they_were_written(written: list[str]) -> None:
    loan = plan(pod("--batch-scheduler=volcano", *written, command=["/manager"]))
    assert "--metrics-addr=127.0.0.1:20001" in loan.arguments
    assert not any("9090" in argument for argument in loan.arguments)
    assert "--batch-scheduler=volcano" in loan.arguments
    assert loan.ports == {9090: 20001, 8082: 20002}
    assert loan.probe == "http://127.0.0.1:20002/readyz"
    assert lent(loan)["--metrics-addr"] == (":9090", "127.0.0.1:20001")


def test_what_a_pod_knows_by_itself_is_told_outside_of_one() -> None:
    loan = plan(pod())
    assert f"--kubeconfig={KUBECONFIG}" in loan.arguments
    assert "--leader-election-namespace=space" in loan.arguments
    assert any("service account space/account" in difference.why for difference in loan.differences)
    own = plan(pod("--leader-election-namespace=elsewhere"))
    assert "--leader-election-namespace=elsewhere" in own.arguments


def test_what_stands_in_a_configuration_file_is_replaced_there(tmp_path: Path) -> None:
    """Kueue has no flags for its ports, nor for where its certificate is."""
    file = tmp_path / "settings" / "controller_manager_config.yaml"
    file.parent.mkdir()
    file.write_text("webhook: {port: 9443}\nhealth: {healthProbeBindAddress: ':8081'}\nkept: [1, 2]\n")
    at = [
        Mount("/controller_manager_config.yaml", "settings", file.parent, file.name),
        Mount("/tmp/k8s-webhook-server/serving-certs", "cert", tmp_path / "cert"),
    ]
    made = pod(
        "--config=/controller_manager_config.yaml", image="registry.k8s.io/kueue/kueue:v0.17.0", command=["/manager"]
    )
    loan = plan(made, at=at)
    own = KUBECONFIG.parent / "configuration.yaml"
    assert f"--config={own}" in loan.arguments
    assert yaml.safe_load(loan.files[own]) == {
        "webhook": {"port": 20003, "certDir": str(tmp_path / "cert")},
        "health": {"healthProbeBindAddress": "127.0.0.1:20001"},
        "metrics": {"bindAddress": "127.0.0.1:20002"},
        "kept": [1, 2],
    }
    assert loan.ports == {8081: 20001, 8443: 20002, 9443: 20003, 8082: 20004}
    assert loan.probe == "http://127.0.0.1:20001/readyz"
    assert lent(loan)["webhook.port"] == ("9443", "20003")
    assert lent(loan)["webhook.certDir"][1] == str(tmp_path / "cert")


def test_a_configuration_that_is_not_mounted_yet_is_waited_for() -> None:
    made = pod("--config=/nowhere/file.yaml", image="registry.k8s.io/kueue/kueue:v0.17.0")
    with pytest.raises(NotYetError, match="configuration cannot be read"):
        plan(made)


def test_an_unchanged_argument_is_no_difference() -> None:
    loan = plan(pod("--feature-gates=A=true,B=false", "2>&1"))
    assert "--feature-gates=A=true,B=false" in loan.arguments
    assert loan.arguments[-1] == "2>&1"
    assert set(lent(loan)) == {
        "image", "--metrics-addr", "--health-probe-bind-address", "--kubeconfig", "--leader-election-namespace",
    }  # fmt: skip


def test_variables_are_expanded_as_a_kubelet_does() -> None:
    loan = plan(pod("--a=$(NAME)", "--b=$$(NAME)", "--c=$(UNKNOWN)"), NAME="value")
    assert {"--a=value", "--b=$(NAME)", "--c=$(UNKNOWN)"} <= set(loan.arguments)


def test_mounted_paths_are_found_in_arguments_and_environment_and_nothing_like_them_is() -> None:
    at = [Mount("/etc/conf", "conf", Path("/here/conf")), Mount("/etc/conf/deep", "deep", Path("/here/deep"))]
    loan = plan(
        pod(
            "--file=/etc/conf/a.yaml",
            "--deep=/etc/conf/deep/b",
            "--other=/etc/conference/c",
            "--two=/etc/conf,/etc/conf",
        ),
        at=at,
        DIRECTORY="/etc/conf",
        URL="https://host/etc/conf",
    )
    assert "--file=/here/conf/a.yaml" in loan.arguments
    assert "--deep=/here/deep/b" in loan.arguments
    assert "--other=/etc/conference/c" in loan.arguments
    assert "--two=/here/conf,/here/conf" in loan.arguments
    assert loan.environment == {"DIRECTORY": "/here/conf", "URL": "https://host/etc/conf"}
    assert lent(loan)["--file"] == ("/etc/conf/a.yaml", "/here/conf/a.yaml")
    assert lent(loan)["DIRECTORY"] == ("/etc/conf", "/here/conf")


def test_a_part_of_a_volume_and_the_service_account_are_mounted_as_what_they_are(tmp_path: Path) -> None:
    made = pod(
        volumeMounts=[
            {"name": "conf", "mountPath": "/etc/one.yaml", "subPath": "one.yaml"},
            {"name": "token", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"},
        ]
    )
    made["spec"]["volumes"] = [{"name": "conf", "configMap": {"name": "c"}}, {"name": "token", "projected": {}}]
    (mount,) = loans.mounts_of(made, made["spec"]["containers"][0], tmp_path)
    assert mount.here == tmp_path / "conf" / "one.yaml"


def test_limits_are_said_not_to_be_enforced() -> None:
    loan = plan(pod(resources={"limits": {"cpu": "2", "memory": "4Gi"}}))
    assert Difference("limits", "cpu 2, memory 4Gi", "", "not enforced") in loan.differences


def test_named_ports_are_kept_for_services() -> None:
    assert plan(pod(ports=[{"name": "http", "containerPort": 8080}, {"containerPort": 1}])).named == {"http": 8080}


def test_scripts_are_told_from_programs() -> None:
    assert loans.script_of(pod(command=["/manager"])["spec"]["containers"][0]) is None
    assert loans.script_of(pod()["spec"]["containers"][0]) is None
    assert loans.script_of(pod("b", command=["./make.sh", "a"])["spec"]["containers"][0]) == ("make.sh", ["a", "b"])


def test_pods_of_several_containers_are_refused() -> None:
    made = pod()
    made["spec"]["containers"].append({"name": "side", "image": "busybox"})
    with pytest.raises(LoanRefusedError, match="a pod of one container"):
        loans.container_of(made)


@pytest.mark.parametrize(
    ("amount", "divisor", "expected"),
    [("512Mi", "0", "536870912"), ("500m", "0", "1"), ("2", "1m", "2000"), ("1Gi", "1Mi", "1024"), ("1500m", "1", "2")],
)
def test_resource_fields_are_whole_numbers_rounded_up(amount: str, divisor: str, expected: str) -> None:
    source = {"resourceFieldRef": {"resource": "limits.memory", "divisor": divisor}}
    made = pod(resources={"limits": {"memory": amount}}, env=[{"name": "V", "valueFrom": source}])
    client = cast("AsyncClient", None)  # nothing to read
    assert asyncio.run(mounts.environment(client, made, made["spec"]["containers"][0])) == {"V": expected}
