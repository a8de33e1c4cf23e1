"""The twin's cloud with a trap in it: `python tests/twin/aws_trap.py PORT`.

What is put to `TRAP` arms it: {"pid": whom to kill, "method": POST for what is made or DELETE for what is deleted,
"ordinal": at the how manieth, counted from then on, "delay": seconds}. It springs when the provider has carried out the
call and tells the journal of it: the cloud has it, and the engine has not heard of it yet.
"""

import os
import signal
import sys
import threading
from typing import Any

from moto.moto_api._internal.urls import url_paths

from twin.aws import moto_gaps, server
from twin.aws.names import JOURNAL

TRAP = "/moto-api/gangline/trap"


class Trap:
    """Kills a process at an event."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._armed: dict[str, Any] = {}

    def arm(self, request: Any, full_url: str, headers: Any) -> tuple[int, dict[str, str], str]:
        with self._lock:
            self._armed = dict(request.json)
        return 200, {}, ""

    def saw(self, method: str) -> None:
        with self._lock:
            if self._armed.get("method") != method:
                return
            self._armed["ordinal"] -= 1
            if self._armed["ordinal"]:
                return
            pid, delay = self._armed["pid"], self._armed["delay"]
            self._armed = {}
        if delay:
            threading.Timer(delay, os.kill, (pid, signal.SIGKILL)).start()
        else:
            os.kill(pid, signal.SIGKILL)


def main() -> None:
    moto_gaps.install()
    trap, journal = Trap(), url_paths[f"{{0}}{JOURNAL}"]

    def watched(request: Any, full_url: str, headers: Any) -> Any:
        trap.saw(request.method)
        return journal(request, full_url, headers)

    url_paths[f"{{0}}{JOURNAL}"] = watched
    url_paths[f"{{0}}{TRAP}"] = trap.arm
    server.serve(["--host", "127.0.0.1", "--port", sys.argv[1]])


if __name__ == "__main__":
    main()
