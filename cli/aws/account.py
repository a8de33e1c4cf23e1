"""The AWS account that an environment is made in: the user's, or that of the twin's cloud."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cli.refusals import RefusedError
from twin.aws.names import VARIABLE

if TYPE_CHECKING:
    from botocore.exceptions import ClientError

DENIED = frozenset({"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthorizationError"})
"""Codes with which AWS's services say that a permission is missing."""
_INVALID = frozenset(
    {
        "InvalidClientTokenId", "UnrecognizedClientException", "SignatureDoesNotMatch", "ExpiredToken",
        "ExpiredTokenException", "AuthFailure", "OptInRequired",
    }
)  # fmt: skip
_ENDPOINT = "AWS_ENDPOINT_URL"
_NO_CLOUD = "the twin has no cloud running\n  fix: ./gangline twin start ENV, with an environment on AWS"


@dataclass
class Account:
    """An account, seen from one region.

    Attributes:
        region: The region.
        endpoint: Address of the twin's cloud; None for AWS itself.
    """

    region: str
    endpoint: str | None = None
    _clients: dict[str, Any] = field(default_factory=dict)
    _identity: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of_user(cls, region: str) -> "Account":
        """Give the account of this shell's credentials.

        Raises:
            RefusedError: This shell was told to speak to the twin.
        """
        if VARIABLE in os.environ:
            raise RefusedError(
                "this shell has the twin's settings (./gangline twin env), and the twin's cloud is no account\n"
                "  fix: use another shell, or --twin to ask the twin's cloud"
            )
        return cls(region)

    @classmethod
    def of_twin(cls, settings: Mapping[str, str], region: str) -> "Account":
        """Give the account of the twin's cloud.

        Args:
            settings: The twin's environment variables.
            region: The region.

        Raises:
            RefusedError: The twin has no cloud now.
        """
        if _ENDPOINT not in settings:
            raise RefusedError(_NO_CLOUD)
        return cls(region, settings[_ENDPOINT])

    def client(self, service: str) -> Any:
        """Give boto3's client of a service. What is asked is answered within seconds or not at all."""
        if service not in self._clients:
            from boto3.session import Session
            from botocore.config import Config

            # One host name serves all services and buckets of the twin's cloud, which knows no credentials.
            twin: dict[str, Any] = {
                "endpoint_url": self.endpoint,
                "aws_access_key_id": "twin",
                "aws_secret_access_key": "twin",
            }
            path = {"s3": {"addressing_style": "path"}, "proxies": {}} if self.endpoint else {}
            self._clients[service] = Session().client(  # pyright: ignore[reportCallIssue]
                service,  # pyright: ignore[reportArgumentType]
                region_name=self.region,
                config=Config(
                    connect_timeout=5, read_timeout=20, retries={"mode": "standard", "total_max_attempts": 4}, **path
                ),
                **(twin if self.endpoint else {}),
            )
        return self._clients[service]

    @property
    def identity(self) -> str:
        """The account's number.

        Raises:
            RefusedError: There are no credentials, they are not accepted, or AWS cannot be reached.
        """
        return self._caller["Account"]

    @property
    def partition(self) -> str:
        """The partition, such as `aws` or `aws-cn`.

        Raises:
            RefusedError: As for `identity`.
        """
        return self._caller["Arn"].split(":")[1]

    @property
    def caller(self) -> str:
        """The ARN of who asks.

        Raises:
            RefusedError: As for `identity`.
        """
        return self._caller["Arn"]

    @property
    def _caller(self) -> dict[str, str]:
        if not self._identity:
            self._identity.update(self._ask_who())
        return self._identity

    def _ask_who(self) -> dict[str, str]:
        from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

        try:
            return self.client("sts").get_caller_identity()
        except NoCredentialsError:
            raise RefusedError(
                "AWS: this shell has no credentials\n"
                "  fix: aws sso login and AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; or --twin to "
                "try without an account"
            ) from None
        except ClientError as error:
            hint = (
                f"\n  fix: log in again; or region {self.region} is not enabled in this account: aws account "
                f"get-region-opt-status --region-name {self.region}"
                if code(error) in _INVALID
                else ""
            )
            raise RefusedError(f"AWS: {code(error)}: {message(error)}{hint}") from None
        except BotoCoreError as error:
            if self.endpoint:
                raise RefusedError(_NO_CLOUD) from None
            raise RefusedError(
                f"AWS: {error}\n  fix: see the profile, the region and the network of this shell"
            ) from None


def absent(ask: Callable[..., Any], *codes: str, **parameters: Any) -> Any:
    """Ask; None where AWS says by one of the codes that it is not there."""
    from botocore.exceptions import ClientError

    try:
        return ask(**parameters)
    except ClientError as error:
        if code(error) in codes:
            return None
        raise


@contextmanager
def refusing(what: str) -> Iterator[None]:
    """Tell a refusal of AWS in words.

    Raises:
        RefusedError: AWS refused what was done inside.
    """
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as error:
        fix = "\n  fix: allow it to whoever runs this" if code(error) in DENIED else ""
        raise RefusedError(f"{what}: {code(error)}: {message(error)}{fix}") from None
    except BotoCoreError as error:
        raise RefusedError(f"{what}: {error}") from None


def code(error: "ClientError") -> str:
    """Give the code of a refusal."""
    return error.response.get("Error", {}).get("Code", "")


def message(error: "ClientError") -> str:
    """Give the words of a refusal, in one line."""
    return " ".join((error.response.get("Error", {}).get("Message") or str(error)).split())
