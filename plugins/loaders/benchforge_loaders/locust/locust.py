"""locust: simulated users in Python, by our locustfile or your own, in one process or many."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Literal, Self

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from benchforge.plugin import (
    Command,
    Duration,
    Load,
    Need,
    Output,
    OutputDamaged,
    Reading,
    Request,
    Target,
    WrongOption,
)
from benchforge.plugin.load_tools import Count, Timed, ToolJson, WholeSeconds, parsing
from benchforge_loaders.locust.report import LocustReport, complaint

OUR_FILE = Path(__file__).parents[1] / "drivers/locust_request.py"
STREAM_FILE = OUR_FILE.with_name("locust_stream.py")
SETTINGS = "locust-request.json"
WORKERS_WITHIN_S = 20


class _Process(ToolJson):
    """What our locustfile counts in a process that sends a mix."""

    taken: Count
    began_again: Count


class Locust(Timed):
    """locust 2: each user sends its next request after the last response.

    Good to know:

    - locust keeps times in whole milliseconds, above 100 ms in steps of 10, above 1 s in steps of
      100, and rounds percentiles to these steps. Its mean is exact.
    - Latencies include lost requests. FastHttpUser silently repeats a request whose connection was
      closed.
    - A process uses one core, and reaches about 1400 requests per second with HttpUser, 5000 with
      FastHttpUser: see the loader's CPU. `workers` are processes in addition to the master.
    - `duration` counts from locust's own start. benchforge reads the real duration from the times
      of its log. The rate that locust prints ends with the start of the last request, and is too
      high.
    - Your own locustfile decides which requests to send. benchforge uses the scenario's request
      only for the checks before and after the load. Redirects are followed as that file says.
    - Of a mix, the users of a process share its part of the stream: each takes the next request.
      It cannot send flows.
    - locust reports the status of a failure only in words, from which benchforge forms the
      classes. With your own locustfile, `other` are failures that the file declared.
    """

    name: ClassVar[str] = "locust"
    tells_kinds: ClassVar[bool] = True

    users: PositiveInt = 10
    "Number of concurrent users, over all processes."
    spawn_rate: PositiveInt | None = None
    "Number of users that start per second. Default: all users at once."
    workers: NonNegativeInt = Field(default=0, le=1000)
    "Number of processes that send requests. With 0, one process does everything."
    user: Literal["fast", "http"] = "fast"
    "Class of user: FastHttpUser (geventhttpclient) or HttpUser (requests)."
    locustfile: Path | None = None
    "Path of your own locustfile, relative to the suite's folder."
    timeout: WholeSeconds = Duration(10)
    "Time limit of one request in whole seconds."

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        if self.workers > self.users:
            msg = f"{self.workers} workers need as many users, not {self.users}"
            raise WrongOption(msg, "workers", "users")
        if self.locustfile is not None and self.model_fields_set & {"user", "timeout"}:
            msg = "user and timeout are for our own requests: the locustfile decides for itself"
            raise WrongOption(msg, "user", "timeout", "locustfile", hint="leave them out")
        return self

    def needs(self) -> Iterable[Need]:
        """Return locust."""
        return [Need("locust", "pip install locust", "module")]

    def load(self) -> Load:
        """Return what it is told to do: what a locustfile of one's own does is not known."""
        update: dict[str, int | None] = {"processes": max(1, self.workers), "keep_alive": True}
        if self.locustfile is not None:
            update |= {
                "connections": None,
                "concurrency": None,
                "keep_alive": None,
                "protocol": None,
            }
        return super().load().model_copy(update=update)

    def fingerprint(self, suite_folder: Path) -> str:
        """Return a digest of the locustfile. Raises nothing: a missing one is told by locust."""
        file = OUR_FILE if self.locustfile is None else suite_folder / self.locustfile
        return hashlib.sha256(file.read_bytes() if file.is_file() else b"").hexdigest()[:16]

    def reads(self, suite_folder: Path) -> Iterable[Path]:
        """Return the locustfile of the user's own."""
        return () if self.locustfile is None else (suite_folder / self.locustfile,)

    def files(self, target: Target) -> Mapping[str, str]:
        """Return what our own locustfile is told."""
        if self.locustfile is not None:
            return {}
        if target.stream is not None:
            return {SETTINGS: json.dumps(self._stream(target), indent=2) + "\n"}
        request = target.request
        settings = {
            "user": self.user,
            "method": request.method,
            "path": request.path,
            # Both kinds of users ask for gzip by themselves.
            "headers": {"Accept-Encoding": "identity", **request.headers},
            "body": request.body,
            "timeout": float(self.timeout),
        }
        return {SETTINGS: json.dumps(settings, indent=2) + "\n"}

    def commands(self, target: Target) -> Sequence[Command]:
        """Return the process that tells, then the workers."""
        shipped_file = STREAM_FILE if target.stream is not None else OUR_FILE
        file = shipped_file if self.locustfile is None else target.suite_folder / self.locustfile
        environment = {"BENCHFORGE_LOCUST": str(target.folder / SETTINGS)}
        start = (target.python, "-m", "locust", "-f", file)
        master = ("--master", "--master-bind-host", "127.0.0.1", "--expect-workers", self.workers)
        patience = ("--expect-workers-max-wait", WORKERS_WITHIN_S)
        worker = Command(*start, "--worker", "--master-host", "127.0.0.1", environment=environment)
        return [
            Command(
                *start,
                *("--headless", "--only-summary", "--json", "--exit-code-on-error", 0),
                *("-u", self.users, "-r", self.spawn_rate or self.users),
                *("-t", f"{self.duration}s", "-H", target.root),
                *((*master, *patience) if self.workers else ()),
                environment=environment,
            ),
            *([worker] * self.workers),
        ]

    def read(self, output: Output) -> Reading:
        """Return what locust printed.

        Raises OutputDamaged when it failed, with the line of the locustfile that did, and when what
        it printed is not whole.
        """
        if output.code:
            shipped_file = STREAM_FILE if output.target.kinds else OUR_FILE
            file = self.locustfile or Path(shipped_file.name)
            raise OutputDamaged(f"locust: {complaint(output.code, output.stderr, file)}")
        with parsing("locust"):
            report = LocustReport.from_texts(output.stdout, output.stderr)
        custom = self.locustfile is not None
        retries = self.user == "fast" or custom  # what a locustfile of the user's does is not known
        reading = report.reading(custom=custom, retries=retries)
        if not output.target.kinds:
            return reading
        processes = self._processes(output)
        update = {
            "kinds": report.by_kind(output.target.kinds, retries=retries),
            "records_taken": tuple(process.taken for process in processes),
            "stream_began_again": sum(process.began_again for process in processes),
        }
        return reading.model_copy(update=update)

    def why_no_kinds(self, requests: Mapping[str, Request]) -> str:
        """Return why it cannot send a mix: a locustfile of one's own decides for itself."""
        return "sends what its own locustfile says" if self.locustfile is not None else ""

    def _stream(self, target: Target) -> Mapping[str, object]:
        """Return what our locustfile for a mix reads."""
        return {
            "user": self.user,
            "stream": str(target.stream),
            "index": str(target.index),
            "kinds": target.kinds,
            "parts": max(1, self.workers),
            "taken": str(target.folder / _taken_file(target)),
            "timeout": float(self.timeout),
        }

    def _processes(self, output: Output) -> list[_Process]:
        """Return what each process that sent requests counted."""
        processes: list[_Process] = []
        for part in range(max(1, self.workers)):
            with parsing(name := f"{_taken_file(output.target)}-{part}"):
                processes.append(_Process.from_json(output.file(name)))
        return processes


def _taken_file(target: Target) -> str:
    return f"locust-{target.phase}-taken"
