"""Object stores that are there already."""

from typing import Any

import pytest

from model.storage import remote, stores
from tests.model.documents import environment, errors, only, put

S3 = {"kind": "s3", "bucket": "checkpoints", "endpoint": "https://minio.example.com:9000", "secret": "archive"}
OSS = {"kind": "oss", "bucket": "ckpt", "endpoint": "https://oss-cn-beijing-internal.aliyuncs.com", "secret": "oss"}


@pytest.mark.parametrize(("archive", "provider"), [(S3, "Other"), (OSS, "Alibaba")])
def test_a_remote_says_all_but_the_keys(archive: dict[str, str], provider: str):
    env = environment(put("storage.archive", archive))
    assert stores.exists(env)
    settings = remote.existing(env)
    assert settings == {"type": "s3", "provider": provider, "endpoint": archive["endpoint"], "no_check_bucket": "true"}
    assert remote.variables(settings or {})["RCLONE_CONFIG_ARCHIVE_PROVIDER"] == provider
    assert remote.secret(env) == archive["secret"]
    assert set(remote.SECRETS.values()) == {"access-key", "secret-key"}


def test_without_an_archive_there_is_no_remote():
    assert remote.existing(environment()) is None
    assert remote.secret(environment()) is None


@pytest.mark.parametrize("endpoint", ["http://127.0.0.1:9000", "http://localhost", "http://[::1]:9000"])
def test_only_on_the_own_machine_the_network_may_see_it(endpoint: str):
    assert not errors(put("storage.archive", {**S3, "endpoint": endpoint}))


@pytest.mark.parametrize(
    ("endpoint", "fix"),
    [
        ("http://minio.example.com:9000", "https://minio.example.com:9000"),
        ("minio.example.com", "https://minio.example.com"),
        ("ftp://minio.example.com", "https://minio.example.com"),
        ("https://minio.example.com/checkpoints", "https://minio.example.com"),
        ("https://minio.example.com:port", None),
        ("https://minio.example.com:", None),
        ("https://minio.example.com:0", None),
        ("minio.example.com:99999", None),
        ("https://min io", None),
        ("https://-minio-", None),
        ("s3://checkpoints", None),
        ("https://", None),
        ("", None),
    ],
)
def test_an_endpoint_is_the_url_of_a_store(endpoint: str, fix: str | None):
    path, problem = only(errors(put("storage.archive", {**S3, "endpoint": endpoint})))
    assert (path, problem.fix) == ("storage.archive.endpoint", fix)
    assert fix is None or not errors(put("storage.archive", {**S3, "endpoint": fix}))


@pytest.mark.parametrize("endpoint", ["https://key:hush@minio.example.com", "key:hush@minio", "s3://k:hush@m:port"])
def test_keys_in_a_url_are_refused_and_not_shown(endpoint: str):
    path, problem = only(errors(put("storage.archive", {**S3, "endpoint": endpoint})))
    assert path == "storage.archive.endpoint"
    assert "hush" not in repr(problem)


def test_oss_is_asked_by_its_region():
    endpoint = "https://ckpt.oss-cn-beijing.aliyuncs.com"
    path, problem = only(errors(put("storage.archive", {**OSS, "endpoint": endpoint})))
    assert (path, problem.fix) == ("storage.archive.endpoint", "https://oss-cn-beijing.aliyuncs.com")


@pytest.mark.parametrize(
    ("archive", "bucket"), [(S3, "Checkpoints"), (S3, "ab"), (S3, "a..b"), (S3, "a_b"), (OSS, "a.b"), (S3, "a" * 64)]
)
def test_a_bucket_has_a_legal_name(archive: dict[str, Any], bucket: str):
    assert only(errors(put("storage.archive", {**archive, "bucket": bucket})))[0] == "storage.archive.bucket"


@pytest.mark.parametrize("key", ["bucket", "secret"])
def test_a_store_that_is_there_is_described_in_full(key: str):
    rest = {name: value for name, value in S3.items() if name != key}
    assert only(errors(put("storage.archive", rest)))[0] == f"storage.archive.{key}"


def test_elsewhere_than_on_aws_the_store_is_there():
    assert only(errors(put("storage.archive", {"kind": "s3"})))[0] == "storage.archive.endpoint"
