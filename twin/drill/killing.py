"""Commands that kill who called them: so the uploader dies at a chosen command, whatever the machine's speed."""

import shlex
from collections.abc import Mapping
from pathlib import Path

COMMANDS = ("rclone", "cp", "rm", "mv", "mkdir", "rmdir", "sync", "touch")
"""What the uploader changes things with. While it has nothing to do it calls none of them."""
MOMENTS = ("before", "during", "after")

_SCRIPT = """\
#!/bin/sh
# Counts the calls; at the one that is written in `kill`, it kills its whole process group.
printf . >>{folder}/count # appended, as two may be called at once
count=$(wc -c <{folder}/count)
[ -f {folder}/kill ] && read -r at moment <{folder}/kill && [ "$count" -ge "$at" ] || exec {program} "$@"
/bin/rm -f {folder}/kill
case $moment in
before) ;;
during) {program} "$@" & sleep 0.0$((count % 4)) ;;
after) {program} "$@" ;;
esac
kill -KILL 0
"""


def prepare(folder: Path, programs: Mapping[str, str]) -> None:
    """Put such commands into a folder, which goes first on the uploader's PATH.

    Args:
        folder: The folder; beside it they keep their count.
        programs: What each really is.
    """
    folder.mkdir(parents=True)
    # The pause between two passes, so that a drill takes half the time.
    (folder / "sleep").write_text("#!/bin/sh\nexec /bin/sleep 0.1\n")
    (folder / "sleep").chmod(0o755)
    for name, program in programs.items():
        script = folder / name
        script.write_text(_SCRIPT.format(folder=shlex.quote(str(folder.parent)), program=shlex.quote(program)))
        script.chmod(0o755)


def arm(folder: Path, calls: int, moment: str) -> None:
    """Have the uploader die.

    Args:
        folder: The folder of the commands.
        calls: At which call from now on.
        moment: Before it, in the middle of it, or after it.
    """
    counted = folder.parent / "count"
    now = counted.stat().st_size if counted.exists() else 0
    fresh = folder.parent / "kill.new"
    fresh.write_text(f"{now + calls} {moment}\n")
    fresh.rename(folder.parent / "kill")


def armed(folder: Path) -> bool:
    """Say whether the call has not come yet."""
    return (folder.parent / "kill").exists()
