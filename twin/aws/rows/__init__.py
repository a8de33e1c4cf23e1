"""The rows: one for each resource type of the AWS SDK that the stand-in carries, by its token.

Which changes replace a resource was read in the provider's documentation and in its Terraform sources, as the SDK does
not say it.
"""

from collections.abc import Mapping

from twin.aws.row import Row
from twin.aws.rows import compute, eks, files, identity, keys, network, notices, registry, rules, s3

ROWS: Mapping[str, Row] = {
    **network.ROWS,
    **rules.ROWS,
    **compute.ROWS,
    **identity.ROWS,
    **eks.ROWS,
    **keys.ROWS,
    **notices.ROWS,
    **registry.ROWS,
    **s3.ROWS,
    **files.ROWS,
}
