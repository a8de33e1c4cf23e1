"""Makes the cluster's nodes those of the cloud's node groups, for as long as it runs, as EKS would.

The keeper runs it as `python -m twin.aws.following ROOT ADDRESS`. Which cluster it follows, and what a node of a pool
offers, is in a file of the state directory that whoever starts a run writes; what it made of it is in another.
"""

import logging
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2

from model import aws, document
from model.environment import Environment
from model.offers import NodeOffer
from model.problems import DocumentError
from twin import files, nodes
from twin.aws import members, node_classes
from twin.aws.cloud import Cloud, CloudError
from twin.aws.names import CHANGES
from twin.client import connect
from twin.errors import TwinError
from twin.paths import Paths

LOOK = 1.0  # seconds between two looks at the file; a change in the cloud is told at once
PAUSE = 0.3  # seconds after a failure

log = logging.getLogger("follower")


class Follower:
    """Follows the node groups of one cluster."""

    def __init__(self, paths: Paths, address: str) -> None:
        """Args: paths: the twin's. address: the cloud's."""
        self._paths = paths
        self._address = address
        self._seen: tuple[str, Mapping[str, Any]] | None = None
        self._read: tuple[Mapping[str, Any], Environment] | None = None
        self._offers: dict[str, NodeOffer] = {}

    def run(self) -> None:
        """Follow until the end of the process."""
        while True:
            try:
                self.turn(LOOK)
            except (CloudError, TwinError, DocumentError, httpx2.HTTPError) as error:
                # What failed is done again: the API server or the cloud may be starting.
                self._tell(problem=str(error) or type(error).__name__)
                time.sleep(PAUSE)

    def turn(self, patience: float) -> None:
        """Wait for a change in the cloud or in the file, and make the nodes what they should be.

        Args:
            patience: Seconds to wait for a change.

        Raises:
            httpx2.HTTPError: The cloud or the API server does not answer.
            CloudError: The cloud refused a question.
            TwinError: The API server refused a node.
            DocumentError: The file does not hold a sound document.
        """
        word = self._change(patience)
        asked = files.read_json(self._paths.followed)
        if not asked:
            time.sleep(patience)
            return
        environment = self._environment(asked)
        cloud = Cloud(self._address, asked["region"])
        if aws.karpenter(environment):
            with connect(self._paths.kubeconfig) as client:
                for name in node_classes.judge(client, cloud):
                    log.info("EC2NodeClass %s: asked the cloud for what it names", name)
        if self._seen == (word, asked):
            return
        offers = [
            offer
            for member in members.members(cloud, [environment.cluster.name])
            if (offer := self._offer(environment, member))
        ]
        with connect(self._paths.kubeconfig) as client:
            changed = nodes.reconcile(client, offers, settle=0)
        self._offers = {offer.name: offer for offer in offers}
        self._seen = (word, asked)
        if changed.created or changed.deleted or changed.updated:
            counts = (len(changed.created), len(changed.updated), len(changed.deleted))
            log.info("%d nodes: %d created, %d updated, %d deleted", len(offers), *counts)
        self._tell(problem="")

    def _change(self, patience: float) -> str:
        known = self._seen[0] if self._seen else ""
        # Loopback is asked directly: a proxy of the environment would look for it on its own machine.
        answer = httpx2.get(
            f"{self._address}{CHANGES}",
            params={"known": known, "seconds": patience},
            timeout=patience + 10,
            trust_env=False,
        )
        return answer.raise_for_status().json()

    def _environment(self, asked: Mapping[str, Any]) -> Environment:
        if self._read is None or self._read[0] != asked:
            self._read = (asked, document.load(asked["document"]))
        return self._read[1]

    def _offer(self, environment: Environment, member: members.Member) -> NodeOffer | None:
        """Give what a node offers. One of a pool that the document has no more stays as it is until its group goes."""
        if member.pool in environment.pools:
            return members.offer(environment, member)
        return self._offers.get(member.name)

    def _tell(self, *, problem: str) -> None:
        read = self._read[0] if self._read else {}
        told = {"followed": dict(read), "nodes": len(self._offers), "problem": problem}
        if files.write_json(self._paths.following, told) and problem:
            log.warning("%s", problem)


def main() -> None:
    """Follow for the state directory and the cloud that are the two arguments."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO, stream=sys.stdout)
    for chatty in ("httpx", "httpx2", "httpcore"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    Follower(Paths(Path(sys.argv[1])), sys.argv[2]).run()


if __name__ == "__main__":
    main()
