"""Images that AWS publishes for nodes: parameters of the Systems Manager that moto does not have.

https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html and
https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id-bottlerocket.html. The ids are made
up, and the same each time for the same name and region.
"""

import hashlib
import re
from typing import Any

from moto.core.utils import utcnow
from moto.ssm.models import Parameter, SimpleSystemManagerBackend

from twin.aws.moto_gaps.patching import wrap

_IMAGES = re.compile(
    r"/aws/service/(eks/optimized-ami/1\.\d+/amazon-linux-2023/(x86_64|arm64)/(standard|nvidia|neuron)/"
    r"(recommended|amazon-eks-node-[\w.-]+)|bottlerocket/aws-k8s-1\.\d+(-nvidia)?/(x86_64|arm64)/[\w.-]+)/image_id"
)


def _get_parameter(inner: Any, self: Any, name: str) -> Any:
    found = inner(self, name)
    if found is not None or not _IMAGES.fullmatch(name):
        return found
    image = f"ami-{hashlib.sha256(f'{self.region_name}{name}'.encode()).hexdigest()[:17]}"
    return Parameter(
        account_id=self.account_id,
        name=name,
        value=image,
        parameter_type="String",
        description=None,
        allowed_pattern=None,
        keyid=None,
        last_modified_date=utcnow(),
        version=1,
        data_type="aws:ec2:image",
    )


def install() -> None:
    """Add the parameters to moto."""
    wrap(SimpleSystemManagerBackend, "get_parameter", _get_parameter)
