"""The one place where AWS providers are made."""

import pulumi
import pulumi_aws as aws

from model.aws import region
from model.environment import Environment


def provider(name: str, environment: Environment, opts: pulumi.ResourceOptions) -> aws.Provider:
    """Make the provider of an environment's region.

    Every resource gets it explicitly: a default provider would work in whatever region the caller's profile names.
    Credentials are the caller's.
    """
    return aws.Provider(name, region=region(environment), opts=opts)
