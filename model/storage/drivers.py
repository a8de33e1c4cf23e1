"""CSI drivers of file systems that all nodes share."""

from typing import TYPE_CHECKING

from model.problems import known

from .shared import Beegfs, Efs, Lustre

if TYPE_CHECKING:
    from model.environment import Environment

FSX = "fsx.csi.aws.com"
EFS = "efs.csi.aws.com"
LUSTRE = "lustre-csi.hpe.com"
BEEGFS = "beegfs.csi.netapp.com"
"""The last two are installed by whoever runs the cluster: neither has a chart in a repository of charts
(https://github.com/HewlettPackard/lustre-csi-driver, https://github.com/ThinkParQ/beegfs-csi-driver)."""


def unattached(env: "Environment") -> tuple[str, ...]:
    """The drivers of the shared tier, whose volumes are mounted without being attached to a node.

    A scheduler that counts attachments must leave them out: a node has no number of them to give away.
    """
    match known(env.storage.shared):
        case Lustre():
            return (FSX, LUSTRE)
        case Efs():
            return (EFS,)
        case Beegfs():
            return (BEEGFS,)
        case _:
            return ()
