"""Names that jobs know: what they find in each namespace of a tenant."""

JOBS = "jobs"
"""The service account of jobs that use storage: on AWS it has the rights to the namespace's part of the archive."""
CLAIM = "shared"
"""The PersistentVolumeClaim of the shared tier."""
CONFIG = "storage"
"""The ConfigMap that says where checkpoints go, and how the archive is reached."""
