"""Clusters that refuse: what to look at where a webhook's server is down."""

from pathlib import Path

import httpx2
import pytest
import yaml
from lightkube import ApiError

from cli import clusters
from cli.refusals import RefusedError

QUEUE = (
    'failed calling webhook "validatequeue.volcano.sh": failed to call webhook: Post "https://it.volcano-system.svc"'
)
PODS = "kubectl -n volcano-system get pods -l app=volcano-admission"
REFUSALS: list[tuple[str, str | None]] = [
    (f"Internal error occurred: {QUEUE}: dial tcp 10.96.0.9:443: connect: connection refused", PODS),
    (f"Internal error occurred: {QUEUE}: context deadline exceeded", PODS),
    (f'Internal error occurred: {QUEUE}: no endpoints available for service "volcano-admission-service"', PODS),
    (f"Internal error occurred: {QUEUE}: tls: failed to verify certificate: x509: unknown authority", PODS),
    (f"Internal error occurred: {QUEUE}: EOF", PODS),
    ('Internal error occurred: failed calling webhook "mutatejob.volcano.sh": i/o timeout', PODS),
    ('Internal error occurred: failed calling webhook "validatehypernodes.volcano.sh": EOF', PODS),
    (
        'Internal error occurred: failed calling webhook "mclusterqueue.kb.io": EOF',
        "the Service of webhook mclusterqueue",
    ),
    ('Internal error occurred: failed calling webhook "vraycluster.kb.io": EOF', "the Service of webhook vraycluster"),
    ('admission webhook "validatequeue.volcano.sh" denied the request: queue root can not be deleted', None),
    ('queues.scheduling.volcano.sh is forbidden: User "jane" cannot list resource "queues"', None),
    ("etcdserver: request timed out", None),
]


@pytest.mark.parametrize(("message", "fix"), REFUSALS)
def test_a_webhook_that_is_down_is_named_with_where_to_look(tmp_path: Path, message: str, fix: str | None) -> None:
    cluster = {"name": "lab", "cluster": {"server": "http://lab.test"}}
    context = {"name": "lab", "context": {"cluster": "lab", "user": "lab"}}
    config = {"clusters": [cluster], "contexts": [context], "users": [{"name": "lab", "user": {}}]}
    (tmp_path / "config").write_text(yaml.safe_dump(config))
    status = {"kind": "Status", "status": "Failure", "message": message, "reason": "InternalError", "code": 500}
    answer = httpx2.Response(500, json=status, request=httpx2.Request("POST", "http://lab.test"))
    with (
        pytest.raises(RefusedError) as refused,
        clusters.connected({"KUBECONFIG": str(tmp_path / "config")}, "lab"),
    ):
        raise ApiError(request=answer.request, response=answer)
    first, *rest = str(refused.value).splitlines()
    assert first == f"cluster.context lab: the cluster refuses: {message}"
    assert len(rest) == (fix is not None)
    assert fix is None or ("  fix: " in rest[0] and fix in rest[0])
