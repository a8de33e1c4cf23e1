"""Reading a cluster that has not got everything yet."""

import httpx2
import pytest
from lightkube import Client
from lightkube.config.kubeconfig import KubeConfig
from lightkube.config.models import Cluster, User

from cli import seeing


def reading(answer: httpx2.Response) -> Client:
    """A client of a cluster that answers this to everything."""
    config = KubeConfig.from_one(cluster=Cluster(server="http://cluster.test"), user=User())
    return Client(config=config, transport=httpx2.MockTransport(lambda _: answer))


@pytest.mark.parametrize(
    "answer",
    [
        httpx2.Response(404, text="404 page not found\n"),
        httpx2.Response(404, json={"kind": "Status", "code": 404, "reason": "NotFound", "message": "no such kind"}),
    ],
)
def test_a_kind_that_the_cluster_does_not_know_has_no_objects(answer: httpx2.Response) -> None:
    # Before the first `up` there is not even the group, and the API server answers without a Status.
    assert seeing.objects(reading(answer), seeing.Queue) == []


def test_another_refusal_is_one() -> None:
    with pytest.raises(httpx2.HTTPStatusError):
        seeing.objects(reading(httpx2.Response(500, text="no")), seeing.Queue)
