"""What exists before the cluster does: its file system and its object store, as the cluster needs to know them."""

from components.storage.source import Bucket, SharedSource, VolumeSource
from model import tenants
from model.environment import Environment
from model.storage import existing, remote


def shared(environment: Environment) -> SharedSource | None:
    """Give the shared tier where it is a file system that is there already; None where it is made, or no such thing."""
    kind = existing.kind(environment)
    if kind is None:
        return None

    def place(handle: str) -> VolumeSource:
        # What jobs expect of a shared file system: locks that hold across nodes.
        options = ("flock",) if kind == "lustre" else ()
        return VolumeSource(
            driver=existing.DRIVERS[kind],
            handle=handle,
            mount_options=options,
            fs_type="lustre" if kind == "lustre" else None,
        )

    handles = {namespace: existing.handle(environment, namespace) for namespace in tenants.by_namespace(environment)}
    return SharedSource(
        namespaces={namespace: place(handle) for namespace, handle in handles.items()},
        root=place(existing.root(environment)),
    )


def bucket(environment: Environment) -> Bucket | None:
    """Give the bucket of a store that is there already; None where there is none, or it is made."""
    archive, settings = environment.storage.archive, remote.existing(environment)
    if archive is None or archive.bucket is None or settings is None:
        return None
    return Bucket(archive.bucket, settings)
