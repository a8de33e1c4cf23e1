"""The lender: a kubelet for pods whose program the twin has. Run by the keeper as `python -m twin.lending ROOT`.

It follows pods whose image is lent, starts the real program for each, keeps its mounted files up to date, reports its
pod as ready only while it really answers, and ends it with its pod. Nobody else writes the status of these pods.
"""

import asyncio
import logging
import shutil
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
from lightkube import AsyncClient
from lightkube.core.exceptions import ApiError
from lightkube.models.authentication_v1 import BoundObjectReference, TokenRequestSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Pod, Service, ServiceAccountToken
from lightkube.types import PatchType

from twin import control_plane, files, gateway, images, loans, mounts, pki, podstatus, ports
from twin.borrower import STARTING, Borrower, endpoint, free_name
from twin.client import connect_async
from twin.errors import TwinError, tail
from twin.keeper import Keeper, Process, Program
from twin.loans import Loan, LoanRefusedError, NotYetError
from twin.paths import Paths
from twin.scripts import SCRIPTS

TOKEN_LIFE = 3600  # seconds; client-go reads a token file again each minute
PAUSE_UNREADY, PAUSE_READY = 0.2, 1.0  # seconds between two looks at a process
PROBE_LIMIT = 2.0
STARTING_LIMIT = 20.0  # seconds in which a process that does not answer counts as starting

log = logging.getLogger("lender")


class Lender:
    """Lends the twin's programs to pods."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._client: AsyncClient = connect_async(paths.config / "lender.kubeconfig")
        # Loopback only; a webhook's certificate is for its Service, and the API server is who checks it.
        self._prober = httpx2.AsyncClient(verify=False, timeout=PROBE_LIMIT, trust_env=False)
        self._keeper = Keeper(paths)
        self._keeping = asyncio.Lock()
        self._programs = {name: Path(path) for name, path in files.read_json(paths.programs).items()}
        self._ports = files.read_json(paths.state).get("ports", {})
        self._borrowers: dict[str, Borrower] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._finished: set[str] = set()
        self._listed = False
        self._seen: tuple[dict[str, Process], float] = ({}, 0.0)

    async def run(self) -> None:
        """Lend until the process is ended."""
        for name in await self._keep(self._keeper.processes):
            if control_plane.is_lent(name):
                # What a lender before this one had started. Its pods get their processes anew.
                await self._keep(self._keeper.remove, name)
        shutil.rmtree(self._paths.loans, ignore_errors=True)
        answers = {"/healthz": str, "/settled": self._unsettled}
        server = await gateway.serve(self._paths.gateway_socket, self._resolve, answers)
        async with server:
            while True:
                try:
                    await self._follow()
                except (ApiError, httpx2.HTTPError) as error:
                    log.warning("watch of pods ended: %s", error)
                await asyncio.sleep(0.5)

    async def _follow(self) -> None:
        listing = self._client.list(Pod, namespace="*")
        present = {}
        async for pod in listing:
            if (seen := _concern(pod)) is not None:
                present[seen["metadata"]["uid"]] = seen
        for uid, borrower in self._borrowers.items():
            if uid not in present:
                borrower.leave(gone=True)
        for pod in present.values():
            self._see(pod)
        self._listed = True
        async for event, pod in self._client.watch(Pod, namespace="*", resource_version=listing.resourceVersion):
            seen = _concern(pod)
            if seen is None:
                continue
            if event == "DELETED":
                if borrower := self._borrowers.get(seen["metadata"]["uid"]):
                    borrower.leave(gone=True)
            else:
                self._see(seen)

    def _see(self, pod: dict[str, Any]) -> None:
        uid = pod["metadata"]["uid"]
        deleting = "deletionTimestamp" in pod["metadata"]
        borrower = self._borrowers.get(uid)
        if borrower is None:
            ended = uid in self._finished or pod["status"].get("phase") in ("Succeeded", "Failed")
            if ended or not pod["spec"].get("nodeName"):
                return
            borrower = Borrower(
                free_name(pod, {b.name for b in self._borrowers.values()}), pod, self._free_address(pod)
            )
            self._borrowers[uid] = borrower
            task = asyncio.create_task(self._care(uid, borrower))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        borrower.pod = pod
        if deleting:
            borrower.leave(gone=False)

    def _free_address(self, pod: dict[str, Any]) -> str:
        # Beside KWOK's 10.128.0.0/10. A pod that has an address keeps it.
        used = {borrower.address for borrower in self._borrowers.values()}
        kept = pod["status"].get("podIP", "")
        if kept.startswith("10.127.") and kept not in used:
            return kept
        numbers = (f"10.127.{high}.{low}" for high in range(256) for low in range(1, 255))
        return next(address for address in numbers if address not in used)

    async def _care(self, uid: str, borrower: Borrower) -> None:
        log.info("%s: pod %s/%s", borrower.name, borrower.namespace, borrower.pod_name)
        directory = self._paths.loans / borrower.name
        while not borrower.over.is_set() and borrower.finished is None:
            try:
                await self._tend(borrower, directory)
            except (NotYetError, LoanRefusedError) as error:
                borrower.problem = str(error)
            except (ApiError, httpx2.HTTPError, OSError, TwinError) as error:
                borrower.problem = f"{type(error).__name__}: {error}"
                log.warning("%s: %s", borrower.name, borrower.problem)
            except Exception as error:
                # One odd pod must not end what is done for the others.
                borrower.problem = f"the lender failed: {error!r}"
                log.exception("%s", borrower.name)
            await self._report(borrower, directory)
            with suppress(TimeoutError):
                await asyncio.wait_for(borrower.over.wait(), PAUSE_READY if borrower.ready else PAUSE_UNREADY)
        if borrower.loan:
            await self._keep(self._keeper.remove, borrower.name)
        if borrower.finished is not None:
            self._finished.add(uid)  # its stage deletes it, when somebody asks for that
        while borrower.finished is None and not borrower.gone:
            try:
                await self._client.delete(Pod, borrower.pod_name, namespace=borrower.namespace, grace_period=0)
                break
            except (ApiError, httpx2.HTTPError) as error:
                log.warning("%s: pod %s: %s", borrower.name, borrower.pod_name, error)
                await asyncio.sleep(PAUSE_READY)
        shutil.rmtree(directory, ignore_errors=True)
        del self._borrowers[uid]
        log.info("%s: done with pod %s/%s", borrower.name, borrower.namespace, borrower.pod_name)

    async def _tend(self, borrower: Borrower, directory: Path) -> None:
        container = loans.container_of(borrower.pod)
        if script := loans.script_of(container):
            await self._run_script(borrower, directory, *script)
            return
        await mounts.write_volumes(self._client, borrower.pod, directory / "volumes")
        if time.monotonic() > borrower.token_until:
            await self._credentials(borrower, directory)
        if borrower.loan is None:
            await self._start(borrower, container, directory)
            return
        process = (await self._processes()).get(borrower.name)
        if process is None:
            borrower.loan = None  # the keeper forgot it: begin again
            return
        if process.pid and process.pid != borrower.pid:
            borrower.restarts += borrower.pid is not None
            borrower.pid = process.pid
        borrower.ready = process.running and await self._answers(borrower.loan)
        if borrower.ready:
            borrower.problem = ""
        elif process.running and time.time() - process.started < STARTING_LIMIT:
            borrower.problem = STARTING
        elif process.running:
            borrower.problem = f"does not answer at {borrower.loan.probe}: see {self._paths.log(borrower.name)}"
        else:
            written = self._paths.log(borrower.name)
            borrower.problem = f"ended with exit code {process.exit_code}: see {written}"
            if any("address already in use" in line for line in tail(written)):
                # Somebody took a port between its choice and its use: plan the process anew, with other ports.
                await self._keep(self._keeper.remove, borrower.name)
                borrower.loan, borrower.pid = None, None

    async def _start(self, borrower: Borrower, container: dict[str, Any], directory: Path) -> None:
        program = images.lent_program(container["image"]) or ""
        if program not in self._programs:
            raise LoanRefusedError(f"the twin has no program {program}: see `./gangline doctor`")
        used = {*self._ports.values(), *(p for b in self._borrowers.values() if b.loan for p in b.loan.ports.values())}

        def port() -> int:
            chosen = ports.choose(["lent"], {}, used)["lent"]
            used.add(chosen)
            return chosen

        borrower.loan = loans.plan(
            borrower.pod,
            container,
            executable=self._programs[program],
            kubeconfig=directory / "kubeconfig",
            mounts=loans.mounts_of(borrower.pod, container, directory / "volumes"),
            environment=await mounts.environment(self._client, borrower.pod, container),
            port=port,
        )
        for file, text in borrower.loan.files.items():
            files.write(file, text)
        await self._keep(
            self._keeper.add,
            Program(borrower.name, self._programs[program], borrower.loan.arguments, borrower.loan.environment),
        )
        borrower.problem = STARTING
        log.info("%s: started %s", borrower.name, " ".join(borrower.loan.arguments))

    async def _credentials(self, borrower: Borrower, directory: Path) -> str:
        """Write a kubeconfig and a token of the pod's own service account, so that its RBAC rules are really tried."""
        reference = BoundObjectReference(
            apiVersion="v1", kind="Pod", name=borrower.pod_name, uid=borrower.pod["metadata"]["uid"]
        )
        request = ServiceAccountToken(
            metadata=ObjectMeta(),
            spec=TokenRequestSpec(audiences=[], expirationSeconds=TOKEN_LIFE, boundObjectRef=reference),
        )
        account = borrower.pod["spec"].get("serviceAccountName", "default")
        answer = await self._client.create(request, account, namespace=borrower.namespace)
        if answer.status is None:
            raise TwinError(f"no token for service account {borrower.namespace}/{account}")
        token = answer.status.token
        files.write(directory / "token", token)
        user = {"tokenFile": str(directory / "token")}
        server, authority = control_plane.server(self._ports), (self._paths.pki / "ca.crt").read_bytes()
        files.write(directory / "kubeconfig", pki.document(server, authority, user, borrower.namespace))
        borrower.token_until = time.monotonic() + TOKEN_LIFE * 0.8
        return token

    async def _run_script(self, borrower: Borrower, directory: Path, name: str, arguments: list[str]) -> None:
        if name not in SCRIPTS:
            raise LoanRefusedError(f"the twin does not know the command {name} of this image")
        token = await self._credentials(borrower, directory)
        server, authority = control_plane.server(self._ports), (self._paths.pki / "ca.crt").read_bytes()
        files.write(
            directory / "script.kubeconfig", pki.document(server, authority, {"token": token}, borrower.namespace)
        )
        client = connect_async(directory / "script.kubeconfig")
        try:
            done = await SCRIPTS[name](client, arguments)
            borrower.finished, borrower.problem = 0, ""
            log.info("%s: %s %s", borrower.name, name, done)
        except ApiError as error:
            borrower.finished, borrower.problem = 1, f"{name}: {error.status.message}"
            log.warning("%s: %s", borrower.name, borrower.problem)
        finally:
            await client.close()

    async def _answers(self, loan: Loan) -> bool:
        try:
            response = await self._prober.get(loan.probe)
        except httpx2.HTTPError:
            return False
        return response.is_success or loan.any_answer

    async def _report(self, borrower: Borrower, directory: Path) -> None:
        facts = borrower.facts()
        if facts != borrower.reported:
            patch = {"status": podstatus.status(borrower.pod, facts)}
            try:
                await self._client.patch(
                    Pod.Status, borrower.pod_name, patch, namespace=borrower.namespace, patch_type=PatchType.STRATEGIC
                )
                borrower.reported = facts
            except (ApiError, httpx2.HTTPError) as error:
                # Gone already, or an API server that does not answer: the next look tries again.
                log.warning("%s: status of pod %s: %s", borrower.name, borrower.pod_name, error)
        files.write_json(directory / "loan.json", borrower.record())

    async def _resolve(self, host: str, port: int) -> int | str:
        for borrower in self._borrowers.values():
            if borrower.address == host:
                here = borrower.loan.ports.get(port) if borrower.loan else None
                return here or f"process {borrower.name} has no port {port}"
        async for service in self._client.list(Service, namespace="*", fields={"spec.clusterIP": host}):
            return endpoint(service, port, self._borrowers.values())
        return f"no process of the twin stands for {host}"

    def _unsettled(self) -> str:
        """Say what still starts; what failed to start has settled, too."""
        if not self._listed:
            return "pods are not listed yet"
        starting = [b.name for b in self._borrowers.values() if not b.ready and b.problem == STARTING]
        return ", ".join(starting)

    async def _processes(self) -> dict[str, Process]:
        seen, when = self._seen
        if time.monotonic() - when > PAUSE_UNREADY / 2:
            seen = await self._keep(self._keeper.processes)
            self._seen = seen, time.monotonic()
        return seen

    async def _keep(self, call: Any, *arguments: Any) -> Any:
        # One call at a time: adding and removing programs read the keeper's whole configuration again.
        async with self._keeping:
            return await asyncio.to_thread(call, *arguments)


def _concern(pod: Pod) -> dict[str, Any] | None:
    """Give a pod as plain data when its image is lent, or None."""
    spec = pod.spec
    if spec is None or not any(images.lent_program(container.image or "") for container in spec.containers):
        return None
    return pod.to_dict()


def main() -> None:
    """Run the lender of the state directory that is the one argument."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO, stream=sys.stdout)
    for chatty in ("httpx", "httpx2", "httpcore"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    asyncio.run(Lender(Paths(Path(sys.argv[1]))).run())


if __name__ == "__main__":
    main()
