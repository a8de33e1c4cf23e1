"""EFS: backups, and a policy that is taken away.

https://docs.aws.amazon.com/efs/latest/ug/API_PutBackupPolicy.html and .../API_DeleteFileSystemPolicy.html.
"""

# ruff: noqa: D103 (actions have the names and the form that moto wants; the API describes them)

import json
from typing import Any

from moto.efs.exceptions import FileSystemNotFound
from moto.efs.responses import EFSResponse

from twin.aws.moto_gaps.patching import add, wrap

_JSON = {"Content-Type": "application/json"}


def _system(response: Any) -> Any:
    identity = response._get_param("FileSystemId")
    if identity not in response.efs_backend.file_systems_by_id:
        raise FileSystemNotFound(identity)
    return response.efs_backend.file_systems_by_id[identity]


def put_backup_policy(self: Any) -> tuple[str, dict[str, str]]:
    system = _system(self)
    system.put_backup_policy = self._get_param("BackupPolicy")
    return json.dumps({"BackupPolicy": system.put_backup_policy}), _JSON


def delete_file_system_policy(self: Any) -> tuple[str, dict[str, str]]:
    _system(self).file_system_policy = None
    return "{}", _JSON


def _describe_backup_policy(inner: Any, self: Any) -> Any:
    told = getattr(_system(self), "put_backup_policy", None)
    return (json.dumps({"BackupPolicy": told}), _JSON) if told else inner(self)


def _describe_file_system_policy(inner: Any, self: Any) -> Any:
    _system(self)
    return inner(self)


def install() -> None:
    """Add the actions to moto, and have it say of file systems that are not there that they are not."""
    wrap(EFSResponse, "describe_backup_policy", _describe_backup_policy)
    wrap(EFSResponse, "describe_file_system_policy", _describe_file_system_policy)
    add(EFSResponse, put_backup_policy, delete_file_system_policy)
