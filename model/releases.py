"""Which upstream releases an environment runs. What it leaves out comes from the catalogue."""

from .base import Declared


class Release(Declared):
    """Overrides for one upstream product."""

    version: str | None = None
    """Exact version."""
    source: str | None = None
    """Where its chart or manifests come from: a chart repository (https://...), an OCI reference (oci://...), an
    archive (*.tgz) or a directory, the last two relative to the project. Air-gapped sites and the twin use these."""
