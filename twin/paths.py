"""Where the twin keeps what: one directory, given by the caller, holds everything."""

import hashlib
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
CONTEXT = "gangline-twin"
SOCKET_PATH_LIMIT = 100  # sun_path holds 108 bytes, and supervisord appends a pid while it binds


@dataclass(frozen=True)
class Paths:
    """The layout of the twin's state directory (`.twin/` in a checkout).

    Attributes:
        root: The directory, absolute.
    """

    root: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", self.root.absolute())

    @property
    def lock(self) -> Path:
        """Held by whoever starts or stops the twin."""
        return self.root / "lock"

    @property
    def state(self) -> Path:
        """Ports that were chosen at the first start."""
        return self.root / "state.json"

    @property
    def kubeconfig(self) -> Path:
        """The kubeconfig for people and for Pulumi: cluster administrator, context `gangline-twin`."""
        return self.root / "kubeconfig"

    @property
    def pki(self) -> Path:
        """Certificates and keys of this cluster alone."""
        return self.root / "pki"

    @property
    def etcd(self) -> Path:
        """The data directory of etcd: the one place where the cluster's objects are kept."""
        return self.root / "etcd"

    @property
    def logs(self) -> Path:
        """One log file for each process, named like the process."""
        return self.root / "logs"

    @property
    def config(self) -> Path:
        """Configuration files that are written anew at each start."""
        return self.root / "config"

    @property
    def programs(self) -> Path:
        """Which executables the lender may lend, by name."""
        return self.config / "programs.json"

    @property
    def followed(self) -> Path:
        """Which cluster of the cloud the nodes follow: `region` and `document`."""
        return self.config / "followed.json"

    @property
    def following(self) -> Path:
        """What the follower made of that: `followed` as it read it, how many `nodes`, and its `problem`."""
        return self.config / "following.json"

    @property
    def keeper(self) -> Path:
        """What the process keeper needs: its configuration, pid file, and programs that come and go."""
        return self.root / "keeper"

    @property
    def loans(self) -> Path:
        """Mounted files, credentials and records of the processes lent to pods."""
        return self.root / "loans"

    @property
    def pulumi(self) -> Path:
        """PULUMI_HOME of the twin."""
        return self.root / "pulumi"

    @property
    def pulumi_state(self) -> Path:
        """The Pulumi back end of the twin."""
        return self.root / "state"

    def log(self, process: str) -> Path:
        """Give the log file of a process."""
        return self.logs / f"{process}.log"

    @cached_property
    def sockets(self) -> Path:
        """The directory of unix sockets: inside the state, or in /tmp when the path is too long."""
        inside = self.root / "run"
        if len(os.fsencode(inside)) + len("/keeper.sock.4194304") <= SOCKET_PATH_LIMIT:
            return inside
        digest = hashlib.sha256(os.fsencode(self.root)).hexdigest()[:12]
        # Not where TMPDIR says: who stops the twin must find what somebody else started.
        return Path("/tmp") / f"gangline-{os.getuid()}-{digest}"  # noqa: S108 - checked for its owner in `make`

    @property
    def keeper_socket(self) -> Path:
        """Where the process keeper answers."""
        return self.sockets / "keeper.sock"

    @property
    def gateway_socket(self) -> Path:
        """Where the API server's connections into the cluster end."""
        return self.sockets / "gateway.sock"

    def make(self) -> None:
        """Create the directories, readable by their owner only.

        Raises:
            OSError: The state directory cannot be written, or somebody else owns the socket directory.
        """
        for path in (
            self.root,
            self.logs,
            self.config,
            self.keeper,
            self.loans,
            self.pulumi,
            self.pulumi_state,
            self.sockets,
        ):
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
        if self.sockets.stat().st_uid != os.getuid():
            raise PermissionError(f"{self.sockets} belongs to another user")
