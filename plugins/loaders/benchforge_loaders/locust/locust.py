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
    Target,
    WrongOption,
    hookimpl,
)
from benchforge_loaders.locust_report import Report, complaint
from benchforge_loaders.timed import Timed, WholeSeconds

OUR_FILE = Path(__file__).parent / "drivers/locust_request.py"
TOLD = "locust-request.json"
WORKERS_WITHIN_S = 20


class Locust(Timed):
    """locust 2: each user sends its next request when the last one is answered.

    Good to know:

    - It keeps its times in whole milliseconds, above 100 ms in tens, above 1 s in hundreds, and
      gives a percentile as the nearest of those. Its mean is exact.
    - Lost requests are among its latencies. FastHttpUser sends a request again whose connection
      was closed under it, and nobody is told.
    - A process uses one core, and reaches some 1400 requests a second with HttpUser, 5000 with
      FastHttpUser: see the loader's CPU. `workers` are processes beside the master.
    - `duration` counts from its own start; the real one is read from the times of its log. The
      rate that it prints ends with the start of the last request, and is too high.
    - A locustfile of your own decides itself what is asked: the scenario's request is for the
      checks before and after the load alone, and a redirect is followed as that file says.
    - It tells no status of a failure but in words, from which the classes are formed; with a
      locustfile of your own `other` are failures that it declared itself.
    """

    name: ClassVar[str] = "locust"

    users: PositiveInt = 10
    "That load at once, of all processes together."
    spawn_rate: PositiveInt | None = None
    "Users a second to start with; all at once without it."
    workers: NonNegativeInt = Field(default=0, le=1000)
    "Processes that load; one that does everything itself when 0."
    user: Literal["fast", "http"] = "fast"
    "FastHttpUser (geventhttpclient) or HttpUser (requests)."
    locustfile: Path | None = None
    "Of your own, from the suite's folder."
    timeout: WholeSeconds = Duration(10)
    "Whole seconds for one request."

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
        return [Need("locust", 'pip install "benchforge[loaders]"', "module")]

    def load(self) -> Load:
        """Return what it is told to do: what a locustfile of one's own does is not known."""
        update: dict[str, int | None] = {"processes": max(1, self.workers), "keep_alive": True}
        if self.locustfile is not None:
            update |= {"connections": None, "at_once": None, "keep_alive": None, "protocol": None}
        return super().load().model_copy(update=update)

    def fingerprint(self, suite_folder: Path) -> str:
        """Return a digest of the locustfile. Raises nothing: a missing one is told by locust."""
        file = OUR_FILE if self.locustfile is None else suite_folder / self.locustfile
        return hashlib.sha256(file.read_bytes() if file.is_file() else b"").hexdigest()[:16]

    def files(self, target: Target) -> Mapping[str, str]:
        """Return what our own locustfile is told."""
        if self.locustfile is not None:
            return {}
        request = target.request
        told = {
            "user": self.user,
            "method": request.method,
            "path": request.path,
            # Both kinds of users ask for gzip by themselves.
            "headers": {"Accept-Encoding": "identity", **request.headers},
            "body": request.body,
            "timeout": float(self.timeout),
        }
        return {TOLD: json.dumps(told, indent=2) + "\n"}

    def commands(self, target: Target) -> Sequence[Command]:
        """Return the process that tells, then the workers."""
        file = OUR_FILE if self.locustfile is None else target.suite_folder / self.locustfile
        environment = {"BENCHFORGE_LOCUST": str(target.folder / TOLD)}
        start = (target.python, "-m", "locust", "-f", file)
        master = ("--master", "--master-bind-host", "127.0.0.1", "--expect-workers", self.workers)
        patience = ("--expect-workers-max-wait", WORKERS_WITHIN_S)
        worker = Command(*start, "--worker", "--master-host", "127.0.0.1", environment=environment)
        return [
            Command(
                *start,
                *("--headless", "--only-summary", "--json", "--exit-code-on-error", 0),
                *("-u", self.users, "-r", self.spawn_rate or self.users),
                *("-t", f"{self.duration}s", "-H", target.url.removesuffix(target.request.path)),
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
            file = self.locustfile or Path(OUR_FILE.name)
            raise OutputDamaged(f"locust: {complaint(output.code, output.stderr, file)}")
        try:
            report = Report.from_texts(output.stdout, output.stderr)
        except ValueError as error:
            raise OutputDamaged(
                f"locust: {error}", "see what locust printed beside the trial"
            ) from None
        return report.reading(
            own=self.locustfile is not None,
            # What a locustfile of the user's does is not known.
            retries=self.user == "fast" or self.locustfile is not None,
        )


@hookimpl
def benchforge_parts() -> list[type[Timed]]:
    """Return locust."""
    return [Locust]
