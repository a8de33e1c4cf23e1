"""Official release files: fetched resumably, trusted only by a checksum pinned here."""

import shutil
import tarfile
from collections.abc import Mapping
from pathlib import Path

import httpx2 as httpx

from twin.tools.cache import hash_file
from twin.tools.errors import ToolError, storage_errors
from twin.tools.pins import Download, Tool, platform_name
from twin.tools.progress import Progress

_TIMEOUT = httpx.Timeout(30.0, connect=5.0)
_ATTEMPTS = 4
_BLOCK = 1 << 20


class UnavailableError(ToolError):
    """The official file cannot be had now: another way may do."""


def address(tool: Tool, download: Download) -> str:
    """The release file's URL for this machine."""
    return download.url.format(version=tool.version, platform=platform_name())


def fetch(tool: Tool, download: Download, part: Path, progress: Progress) -> None:
    """Bring the release file to `part`, going on from what an earlier try left there, and verify it.

    Raises:
        UnavailableError: the server refused or could not be reached, or the bytes are not the pinned
            ones (then they are removed).
        ToolError: they cannot be written.
    """
    url = address(tool, download)
    wanted = download.checksums[platform_name()]
    with storage_errors(part):
        part.parent.mkdir(parents=True, exist_ok=True)
    resumed = part.exists()
    _fetch_all(tool, url, part, progress)
    if not _matches(part, wanted) and resumed:
        # The first half may be of another file: once more from the start, before blaming the server.
        part.unlink()
        _fetch_all(tool, url, part, progress)
    if not _matches(part, wanted):
        algorithm, digest = wanted.split(":")
        found = hash_file(part, algorithm)
        part.unlink()
        raise UnavailableError(
            f"{url} has {algorithm} {found}, and the pinned one is {digest}; the file was thrown away",
            f"do not trust that server, or the network to it; the pinned checksum is published in {download.published}",
        )


def _matches(path: Path, wanted: str) -> bool:
    algorithm, digest = wanted.split(":")
    return hash_file(path, algorithm) == digest


def _fetch_all(tool: Tool, url: str, part: Path, progress: Progress) -> None:
    for attempt in range(1, _ATTEMPTS + 1):
        before = part.stat().st_size if part.exists() else 0
        try:
            _fetch_rest(tool, url, part, progress)
        except httpx.HTTPStatusError as error:
            raise UnavailableError(
                f"{url} answered {error.response.status_code} {error.response.reason_phrase}",
                "check the address in twin/tools.yaml, or a proxy on the way",
            ) from error
        except httpx.TransportError as error:
            # A line that broke in the middle is taken up again; one that brings nothing is given up.
            if attempt == _ATTEMPTS or not part.exists() or part.stat().st_size <= before:
                raise UnavailableError(
                    f"{url} cannot be fetched: {error or type(error).__name__}",
                    "check the network or the proxy",
                ) from error
        else:
            return


def _fetch_rest(tool: Tool, url: str, part: Path, progress: Progress) -> None:
    have = part.stat().st_size if part.exists() else 0
    headers = {"Range": f"bytes={have}-"} if have else {}
    # Raw bytes: a checksum is of the file as published, not as some proxy recoded it.
    headers["Accept-Encoding"] = "identity"
    with httpx.stream("GET", url, headers=headers, follow_redirects=True, timeout=_TIMEOUT) as answer:
        if answer.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
            return  # nothing is left to fetch; the checksum decides
        answer.raise_for_status()
        goes_on = answer.status_code == httpx.codes.PARTIAL_CONTENT and _starts_at(answer, have)
        if not goes_on:
            have = 0
        length = answer.headers.get("Content-Length")
        total = have + int(length) if length else None
        with storage_errors(part), part.open("ab" if goes_on else "wb") as stream:
            # As it comes from the line: httpx would throw away a half-filled block when the line breaks.
            for block in answer.iter_raw():
                stream.write(block)
                have += len(block)
                progress.update(tool.name, f"downloading, {have // 2**20} MiB", have, total)


def _starts_at(answer: httpx.Response, offset: int) -> bool:
    return answer.headers.get("Content-Range", "").startswith(f"bytes {offset}-")


def unpack(tool: Tool, download: Download, archive: Path, into: Path) -> None:
    """Place the programs of a verified release file in a folder.

    Raises:
        ToolError: a member is missing, or the folder cannot be written.
    """
    with storage_errors(into):
        into.mkdir(parents=True)
        if download.members:
            _unpack_members(tool, download.members, archive, into)
        else:
            (program,) = tool.programs
            shutil.copyfile(archive, into / program)
        for program in tool.programs:
            (into / program).chmod(0o755)


def _unpack_members(tool: Tool, members: Mapping[str, str], archive: Path, into: Path) -> None:
    wanted = {member.format(version=tool.version, platform=platform_name()): name for name, member in members.items()}
    try:
        with tarfile.open(archive) as bundle:
            for member in bundle:
                stream = bundle.extractfile(member) if member.name in wanted else None
                if stream is not None:
                    with (into / wanted.pop(member.name)).open("wb") as target:
                        shutil.copyfileobj(stream, target, _BLOCK)
                if not wanted:
                    break
    except tarfile.TarError as error:
        raise ToolError(f"{archive} is no tar archive: {error}", "correct the download in twin/tools.yaml") from error
    if wanted:
        raise ToolError(f"{archive} has no {', '.join(sorted(wanted))}", "correct the members in twin/tools.yaml")
