"""The cold tier: an object store."""

from typing import Annotated, Literal

from pydantic import Field, Tag

from model.amounts import Memory
from model.base import KIND, Declared, Listed
from model.durations import Duration


class Transition(Declared):
    """When objects go to a cheaper class of storage."""

    after: Duration
    """Age, in days: `30d`."""
    storage_class: str = Field(alias="class")
    """The class, such as `GLACIER_IR`."""


class S3(Declared):
    """A bucket of Amazon S3, which is made on AWS; or an existing one of any store that speaks its API."""

    kind: Literal["s3"]
    """s3."""
    bucket: str | None = None
    """Its name; needed where it exists already, and found by the engine where it is made."""
    endpoint: str | None = None
    """URL of an existing store, such as `https://minio.example.com`."""
    secret: str | None = None
    """Name of the Secret, in each tenant's namespaces, with `access-key` and `secret-key` of an existing store."""
    transitions: Listed[Transition] = ()
    """On AWS, when objects go to cheaper classes."""
    write: Memory | None = None
    """Bytes per second that all nodes together write to it, as measured."""


class Oss(Declared):
    """An existing bucket of Alibaba Cloud OSS."""

    kind: Literal["oss"]
    """oss."""
    bucket: str
    """Its name."""
    endpoint: str
    """URL of its region, such as `https://oss-cn-beijing-internal.aliyuncs.com`."""
    secret: str
    """Name of the Secret, in each tenant's namespaces, with `access-key` and `secret-key`."""
    write: Memory | None = None
    """Bytes per second that all nodes together write to it, as measured."""


Archive = Annotated[Annotated[S3, Tag("(s3)")] | Annotated[Oss, Tag("(oss)")], KIND]
