"""The engine `dask`, one host by a worker: an actor there holds the pipes of the far end."""

import contextlib
import logging
import runpy
import time
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchforge.errors import ProgramMissing
from benchforge.model.values.distribution import from_clone
from benchforge.remote import wire
from benchforge.remote.calls import Losses, PipeConnection, boot_script
from benchforge.remote.session.session import Connect, hosts_of_run
from benchforge.suite.suite import Suite

if TYPE_CHECKING:
    from distributed import Client

_RELAY = runpy.run_path(str(Path(__file__).with_name("relay.py")), run_name="benchforge_relay")
"A class of no module that can be imported there: dask sends its code."
_AS_ACTOR = {"allow_other_workers": False, "retries": 0, "pure": False, "actor": True}
_WRITES_WITHIN_S = wire.LEASE_S
"After which a host has ended what it runs; so a beat that takes longer came too late."
_ASKED_AFTER_S = 2.0
"Seconds of silence after which a call tests whether the worker can be reached."
_CONNECTS_WITHIN_S = 10
_BETWEEN_S = 0.2
_ENDS_WITHIN_S = 15.0
_Failed = (OSError, RuntimeError, ValueError)
"How a call to a worker that is gone ends; a TimeoutError is an OSError."


class DaskPipe:
    """The pipes of a process on a worker."""

    def __init__(self, client: "Client", worker: str, label: str, python: str | None) -> None:
        self._rest, self._started, self._ended = b"", False, False
        self._script = boot_script(python)
        self._why = "its worker of dask is lost"
        try:
            placed: Any = client.submit(_RELAY["Relay"], workers=[worker], **_AS_ACTOR)
            self._actor = placed.result(_CONNECTS_WITHIN_S)
        except _Failed as error:
            message = f"hosts.{label}: the worker of dask starts nothing: {_shown(error)}"
            raise ProgramMissing(message, "see the log of that worker") from error

    def write(self, content: bytes) -> None:
        """Write to the far end's input, and start it first. Raises OSError."""
        try:
            if not self._started:
                self._actor.start(self._script).result(_WRITES_WITHIN_S)
                self._started = True
            for begin in range(0, len(content), wire.CHUNK):
                self._actor.write(content[begin : begin + wire.CHUNK]).result(_WRITES_WITHIN_S)
        except _Failed as error:
            self._lost(error)
            raise OSError(self._why) from error

    def line(self) -> bytes:
        """Return the next line of its output; nothing at the end, or when the worker is lost."""
        while b"\n" not in self._rest and len(self._rest) < wire.LARGEST_LINE:
            try:
                more = self._read()
            except _Failed as error:
                self._lost(error)
                return b""
            if not more:
                return b""
            self._rest += more
        line, end, self._rest = self._rest.partition(b"\n")
        return line + end

    def _read(self) -> bytes:
        """Return the next output. Raises OSError where its worker does not answer, or is silent."""
        reading, deadline = self._actor.read(), time.monotonic() + wire.SILENT_S
        while True:
            with contextlib.suppress(TimeoutError):
                return bytes(reading.result(_ASKED_AFTER_S))
            if time.monotonic() > deadline:
                raise TimeoutError
            self._actor.there().result(_WRITES_WITHIN_S)

    def kill(self) -> None:
        """End the far end at once, as far as its worker can be reached."""
        self._end(at_once=True)

    def close(self) -> None:
        """End the host's part; once is enough, twice does no harm."""
        self._end(at_once=False)

    def complaint(self) -> str:
        """Return the last line that the far end printed, or how its worker was lost."""
        self._end(at_once=False)
        return self._why

    def _lost(self, error: BaseException) -> None:
        """Note why the worker is lost, and tell its far end to end."""
        if not self._ended:
            self._ended, self._why = True, _shown(error)
            with contextlib.suppress(*_Failed):
                self._actor.end(at_once=True)

    def _end(self, *, at_once: bool) -> None:
        if self._ended:
            return
        self._ended = True
        with contextlib.suppress(*_Failed):
            code, last = self._actor.end(at_once=at_once).result(_ENDS_WITHIN_S)
            self._why = str(last) or f"it ended with exit code {code}"


def worker_of(client: "Client", label: str, name: str) -> str:
    """Return the address of the worker with a name, or of the only one with that resource."""
    deadline = time.monotonic() + _CONNECTS_WITHIN_S
    while True:
        workers: dict[str, Any] = client.scheduler_info(n_workers=-1)["workers"]
        named = [address for address, worker in workers.items() if str(worker.get("name")) == name]
        if not named:
            named = [url for url, each in workers.items() if name in (each.get("resources") or {})]
        if len(named) == 1:
            return named[0]
        if time.monotonic() > deadline:
            break
        time.sleep(_BETWEEN_S)
    names = ", ".join(str(worker.get("name")) for worker in workers.values()) or "none"
    count = "several workers have" if named else "no worker has"
    message = f"hosts.{label}: {count} the name or resource {name!r}; workers: {names}"
    raise ProgramMissing(message, f'start one: dask worker --name "{name}"')


def _shown(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "its worker of dask does not answer"
    return " ".join(f"{type(error).__name__} {error}".split())[:300]


def _connected(suite: Suite, client: "Client", label: str, losses: Losses) -> PipeConnection:
    table = suite.hosts[label]
    pipe = DaskPipe(client, worker_of(client, label, str(table.worker)), label, table.python)
    return PipeConnection(label, pipe, losses, "see the log of that worker of dask")


@contextlib.contextmanager
def connecting(suite: Suite) -> Iterator[Connect]:
    """Give what connects a host by its label, while the scheduler is connected.

    It connects to the scheduler, both sides by certificate. Raises ProgramMissing.
    """
    try:
        import dask.config  # noqa: PLC0415 - an extra
        from distributed import Client, Security  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        message = f"the engine dask needs the package {error.name}"
        raise ProgramMissing(message, from_clone("dask")) from error
    table, folder = suite.engine, suite.path.parent
    paths = {name: folder / str(getattr(table, name)) for name in ("ca", "certificate", "key")}
    if missing := [f"{name} = {path}" for name, path in paths.items() if not path.is_file()]:
        raise ProgramMissing(f"engine: no such file: {', '.join(missing)}", "see [engine]")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what counts, we say ourselves
    try:
        security = Security(  # type: ignore[no-untyped-call] # dask has no types
            tls_ca_file=str(paths["ca"]),
            tls_client_cert=str(paths["certificate"]),
            tls_client_key=str(paths["key"]),
            require_encryption=True,
        )
        with warnings.catch_warnings(), dask.config.set({"distributed.comm.retry.count": 0}):
            warnings.simplefilter("ignore")
            client = Client(  # type: ignore[no-untyped-call]
                table.scheduler,
                security=security,
                timeout=_CONNECTS_WITHIN_S,
                name="benchforge",  # the default client, by which actors are called
            )
    except (OSError, ValueError) as error:
        reason = " ".join(str(error.__cause__ or error).split())[:300]
        message = f"engine: the scheduler at {table.scheduler} does not answer: {reason}"
        raise ProgramMissing(message, "see its log, and the certificates of [engine]") from error
    try:
        yield partial(_connected, suite, client)
    finally:
        with contextlib.suppress(OSError):
            client.close(timeout=_CONNECTS_WITHIN_S)  # type: ignore[no-untyped-call]


engine = partial(hosts_of_run, connecting)
