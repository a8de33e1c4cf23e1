"""`pulumi up` starts here: load the environment, build its stack."""

from stacks.load import environment
from stacks.platform import deploy

deploy(environment())
