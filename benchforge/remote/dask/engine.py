"""The entry point of the engine `dask`."""

import contextlib
import logging
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from benchforge.errors import ProgramMissing
from benchforge.model.values.distribution import from_clone
from benchforge.remote.calls import Losses, PipeConnection
from benchforge.remote.dask.connection import DaskPipe, worker_of
from benchforge.remote.session.session import hosts_of_run
from benchforge.suite.suite import Suite

if TYPE_CHECKING:
    from distributed import Client

_CONNECTS_WITHIN_S = 10


@contextlib.contextmanager
def connecting(suite: Suite) -> Iterator[Callable[[str, Losses], PipeConnection]]:
    """Give what connects a host by its label, while the scheduler is connected."""
    with _cluster(suite) as client:

        def connect(label: str, losses: Losses) -> PipeConnection:
            table = suite.hosts[label]
            worker = worker_of(client, label, str(table.worker))
            pipe = DaskPipe(client, worker, label, table.python)
            return PipeConnection(label, pipe, losses, "see the log of that worker of dask")

        yield connect


engine = partial(hosts_of_run, connecting)


@contextlib.contextmanager
def _cluster(suite: Suite) -> Iterator["Client"]:
    """Connect to the scheduler, both sides by certificate. Raises ProgramMissing."""
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
        yield client
    finally:
        with contextlib.suppress(OSError):
            client.close(timeout=_CONNECTS_WITHIN_S)  # type: ignore[no-untyped-call]
