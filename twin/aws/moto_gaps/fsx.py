"""FSx for Lustre: the members that moto leaves out, updates, and associations with buckets.

https://docs.aws.amazon.com/fsx/latest/APIReference/API_FileSystem.html and
.../API_CreateDataRepositoryAssociation.html.
"""

# ruff: noqa: D103 (actions have the names and the form that moto wants; the API describes them)

import json
import time
from typing import Any

from moto.core.exceptions import JsonRESTError
from moto.ec2.models import ec2_backends
from moto.fsx.models import FileSystem, FSxBackend
from moto.fsx.responses import FSxResponse

from twin.aws.moto_gaps.patching import add, body, hexadecimal, picked, wrap

_UPDATED = "StorageCapacity StorageType FileSystemTypeVersion"


class _RefusedError(JsonRESTError):
    code = 400


def _associations(backend: Any) -> dict[str, dict[str, Any]]:
    return backend.__dict__.setdefault("data_repository_associations", {})


def _system(backend: Any, identity: str) -> Any:
    if identity not in backend.file_systems:
        raise _RefusedError("FileSystemNotFound", f"File system '{identity}' does not exist.")
    return backend.file_systems[identity]


def _create_file_system(inner: Any, self: Any) -> str:
    asked = body(self)
    answer = json.loads(inner(self))
    system = self.fsx_backend.file_systems[answer["FileSystem"]["FileSystemId"]]
    system.file_system_type_version = asked.get("FileSystemTypeVersion", "2.15")
    system.creation_time = time.time()
    if system.file_system_type == "LUSTRE":
        given = asked.get("LustreConfiguration") or {}
        kind = given.get("DeploymentType", "SCRATCH_1")
        system.lustre_configuration = {
            "DeploymentType": kind,
            "DataCompressionType": "NONE",
            "WeeklyMaintenanceStartTime": "1:05:00",
            # Only SCRATCH_1 has the same name everywhere.
            "MountName": "fsx" if kind == "SCRATCH_1" else hexadecimal(8),
            **({"AutomaticBackupRetentionDays": 0} if kind.startswith("PERSISTENT") else {}),
            **given,
        }
    return json.dumps({"FileSystem": system.to_dict()})


def _to_dict(inner: Any, self: Any) -> dict[str, Any]:
    ec2 = ec2_backends[self.backend.account_id][self.backend.region_name]
    told = inner(self) | {
        "Lifecycle": "AVAILABLE",
        "OwnerId": self.backend.account_id,
        "VpcId": ec2.get_subnet(self.subnet_ids[0]).vpc_id,
        "NetworkInterfaceIds": [f"eni-{self.file_system_id.removeprefix('fs-'):0>17}"],
        "FileSystemTypeVersion": getattr(self, "file_system_type_version", None),
        "CreationTime": getattr(self, "creation_time", None),
    }
    return {name: value for name, value in told.items() if value is not None}


def update_file_system(self: Any) -> str:
    asked = body(self)
    system = _system(self.fsx_backend, asked["FileSystemId"])
    changed = picked(asked, _UPDATED)
    if changed.get("StorageCapacity", system.storage_capacity) < system.storage_capacity:
        raise _RefusedError("ValidationException", "Storage capacity cannot be decreased")
    for name, attribute in (
        ("StorageCapacity", "storage_capacity"),
        ("StorageType", "storage_type"),
        ("FileSystemTypeVersion", "file_system_type_version"),
    ):
        if name in changed:
            setattr(system, attribute, changed[name])
    if asked.get("LustreConfiguration"):
        system.lustre_configuration = {**(system.lustre_configuration or {}), **asked["LustreConfiguration"]}
    return json.dumps({"FileSystem": system.to_dict()})


def _delete_file_system(inner: Any, self: Any, file_system_id: str, *arguments: Any, **named: Any) -> Any:
    result = inner(self, file_system_id, *arguments, **named)
    kept = _associations(self)
    for identity in [identity for identity, one in kept.items() if one["FileSystemId"] == file_system_id]:
        del kept[identity]
    return result


def _association(backend: Any, identity: str) -> dict[str, Any]:
    if identity not in _associations(backend):
        raise _RefusedError(
            "DataRepositoryAssociationNotFound", f"Data repository association '{identity}' does not exist."
        )
    return _associations(backend)[identity]


def _told(backend: Any, one: dict[str, Any]) -> dict[str, Any]:
    return {**one, "Tags": backend.list_tags_for_resource(one["ResourceARN"])}


def create_data_repository_association(self: Any) -> str:
    asked, backend = body(self), self.fsx_backend
    _system(backend, asked["FileSystemId"])
    path = asked.get("FileSystemPath", "/")
    for other in _associations(backend).values():
        if other["FileSystemId"] == asked["FileSystemId"] and _overlap(path, other["FileSystemPath"]):
            raise _RefusedError("BadRequest", f"The path {path} overlaps with {other['FileSystemPath']}")
    identity = f"dra-{hexadecimal()}"
    one = {
        **picked(asked, "FileSystemId DataRepositoryPath BatchImportMetaDataOnCreate S3"),
        "AssociationId": identity,
        "ResourceARN": (
            f"arn:aws:fsx:{self.region}:{self.current_account}:association/{asked['FileSystemId']}/{identity}"
        ),
        "FileSystemPath": path,
        "ImportedFileChunkSize": asked.get("ImportedFileChunkSize", 1024),
        "Lifecycle": "AVAILABLE",
        "CreationTime": time.time(),
    }
    _associations(backend)[identity] = one
    if asked.get("Tags"):
        backend.tagger.tag_resource(one["ResourceARN"], asked["Tags"])
    return json.dumps({"Association": _told(backend, one)})


def _overlap(one: str, other: str) -> bool:
    short, long = sorted((f"{one.rstrip('/')}/", f"{other.rstrip('/')}/"), key=len)
    return long.startswith(short)


def describe_data_repository_associations(self: Any) -> str:
    asked, backend = body(self), self.fsx_backend
    ids = asked.get("AssociationIds")
    found = [_association(backend, identity) for identity in ids] if ids else list(_associations(backend).values())
    for one in asked.get("Filters") or ():
        if one["Name"] != "file-system-id":
            raise _RefusedError("BadRequest", f"filter {one['Name']}")
        found = [entry for entry in found if entry["FileSystemId"] in one["Values"]]
    return json.dumps({"Associations": [_told(backend, entry) for entry in found]})


def update_data_repository_association(self: Any) -> str:
    asked, backend = body(self), self.fsx_backend
    one = _association(backend, asked["AssociationId"])
    one |= picked(asked, "ImportedFileChunkSize S3")
    return json.dumps({"Association": _told(backend, one)})


def delete_data_repository_association(self: Any) -> str:
    asked, backend = body(self), self.fsx_backend
    one = _association(backend, asked["AssociationId"])
    del _associations(backend)[one["AssociationId"]]
    return json.dumps(
        {
            "AssociationId": one["AssociationId"],
            "Lifecycle": "DELETING",
            "DeleteDataInFileSystem": asked.get("DeleteDataInFileSystem", False),
        }
    )


def install() -> None:
    """Add the actions to moto."""
    wrap(FSxResponse, "create_file_system", _create_file_system)
    wrap(FileSystem, "to_dict", _to_dict)
    wrap(FSxBackend, "delete_file_system", _delete_file_system)
    add(
        FSxResponse,
        update_file_system,
        create_data_repository_association,
        describe_data_repository_associations,
        update_data_repository_association,
        delete_data_repository_association,
    )
