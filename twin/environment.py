"""The environment in which plain `pulumi` and `kubectl` work on the twin: `eval "$(./gangline twin env)"`."""

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from twin.paths import Paths

PASSPHRASE = "twin"  # noqa: S105 - known to everybody on purpose: docs/decisions/004-twin-passphrase.md


def variables(paths: Paths, programs: Mapping[str, Path]) -> dict[str, str]:
    """Give the variables. They are for the child that needs them, or for a shell that asked; never set elsewhere.

    Args:
        paths: The state directory.
        programs: Executables by name. Their directories come last on PATH, so that official tools win.
    """
    search = [entry for entry in os.environ.get("PATH", os.defpath).split(os.pathsep) if entry]
    search += [entry for entry in dict.fromkeys(str(path.parent) for path in programs.values()) if entry not in search]
    return {
        "KUBECONFIG": str(paths.kubeconfig),
        "PATH": os.pathsep.join(search),
        "PULUMI_HOME": str(paths.pulumi),
        "PULUMI_BACKEND_URL": back_end(paths.pulumi_state),
        "PULUMI_CONFIG_PASSPHRASE": PASSPHRASE,
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        # A killed run leaves objects that its state does not know. The next run has another field manager, and takes
        # them over by force: nobody else writes to the twin's cluster.
        "PULUMI_K8S_ENABLE_PATCH_FORCE": "true",
    }


def back_end(folder: Path) -> str:
    """Give the address of a folder as the engine's back end.

    No files of attributes beside its own: unlike those they are not written at once, and an engine that is killed while
    it writes one leaves a stack that no engine opens (https://pkg.go.dev/gocloud.dev/blob/fileblob, `metadata`).
    """
    return f"file://{folder}?metadata=skip"


def exports(values: Mapping[str, str]) -> str:
    """Write variables as commands of a POSIX shell."""
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in values.items())
