"""Something that a plugin brings: a frozen model of its own options, which answers questions.

A part never starts anything: the host acts on what it answers. An option never shadows a method:
`argv: list[str] = Field(alias="command")`.
"""

import math
import signal
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from benchforge.model.trial.answers.answer import Request
from benchforge.model.trial.reading import Load, Reading
from benchforge.model.trial.sample import Sample
from benchforge.model.trial.window import Window
from benchforge.model.values.units import Duration, Measurand, percentile
from benchforge.parts.command import Command, Need, Task
from benchforge.parts.fillable import WrongOption
from benchforge.parts.kinds import Kind
from benchforge.parts.site import Output, Probe, RightAnswer, Site, Target

if TYPE_CHECKING:  # only a run needs trials, and only reporters need summaries
    from benchforge.model.summary.summary import Summary
    from benchforge.model.trial.trial import Trial


UPSTREAM_OPTIONS = ("upstream", "upstreams")
"The options in which a proxy names its upstream servers."

GIT = Need("git", debian="git")
"The program that resolves and checks out commits."

GRACE_S, GUESS_S = 10.0, 30.0
"Seconds in which a load tool starts and reports; those beyond a length that is a guess."


class Part(BaseModel, ABC):
    """A part with its options as fields, as TOML gives them; `use` is the part's name."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True, validate_by_name=False
    )

    kind: ClassVar[Kind]
    name: ClassVar[str]
    "Name of the part, which a suite gives after `use`."

    def needs(self) -> Iterable[Need]:
        """Return the required programs and packages, each with how to install it."""
        return ()

    @property
    def software(self) -> str:
        """The name of the program that `version` is about: results have its version by it."""
        return self.name

    def version(self, site: Site) -> Command | None:
        """Return a command that prints the version. It runs once per suite and `software`."""
        return None

    def fingerprint(self, suite_folder: Path) -> str:
        """Return a digest of the code that it serves: different code makes a different case."""
        return ""

    def reads(self, suite_folder: Path) -> Iterable[Path]:
        """Return the user's files and folders that it reads, for a host that does not have them."""
        return ()


class Service(Part):
    """A process that starts, becomes ready, serves and is stopped."""

    ports: ClassVar[tuple[str, ...]] = ("http",)
    "Names of the ports that the part needs. Each gets a free port, unless an option sets it."
    stop_signal: ClassVar[signal.Signals] = signal.SIGTERM
    "Signal that ends the program. SIGKILL if others take the program a second."
    shares_work: ClassVar[tuple[str, ...]] = ("workers", "threads")
    "Options whose product is the number of concurrent workers."

    ready_within: Duration = Duration(30)
    "Time limit until the service is ready."

    def files(self, site: Site) -> Mapping[str, str]:
        """Return the files to write into the site's folder, by name, before anything starts."""
        return {}

    def template(self, site: Site) -> Sequence[Task]:
        """Return the tasks that fill `site.scratch` once. Each trial gets a copy of it."""
        return ()

    def template_key(self, site: Site) -> str:
        """Return what the template depends on besides its tasks and programs: files it reads."""
        return ""

    def workers_told(self) -> int | None:
        """Return the number of workers times threads in its options; None without such options."""
        settings = [getattr(self, name, None) for name in self.shares_work]
        counts = [count for count in settings if isinstance(count, int)]
        return math.prod(counts) if counts else None

    def why_not_in_turns(self) -> str:
        """Return why it cannot be frozen while others have their turn; empty if it can."""
        return "it runs already, and cannot be frozen" if self.outside() else ""

    def outside(self) -> bool:
        """Return True if the service runs already. The trial then uses the host's network."""
        return False

    def fixed_ports(self) -> Mapping[str, int]:
        """Return the ports that its option `port` sets, by name. The others are free ones."""
        return {}

    def host_names(self) -> Sequence[str]:
        """Return the host names of the service inside a trial, besides its label."""
        return ()

    def prepare(self, site: Site) -> Iterable[Task]:
        """Return the tasks that run in each trial before the start."""
        return ()

    @abstractmethod
    def command(self, site: Site) -> Command | None:
        """Return the command that starts the service; None if it runs already."""

    def ready(self, site: Site) -> Probe:
        """Return the probe that decides whether the service is ready."""
        return RightAnswer()

    def verify(self, site: Site) -> Iterable[Task]:
        """Return the tasks that check the service once it is ready, before dependants start."""
        return ()

    def gives(self, site: Site) -> Mapping[str, str]:
        """Return the values for dependants: `url`, and names in capitals for their environment."""
        return {}


_LONGEST_NAME, _LONGEST_PATH = 255, 4000  # of Linux, less the suite's own folder


class RunsPython(Part):
    """A part whose program is Python; the suite can choose the interpreter."""

    runtime: str | None = None
    "Label of a table in [runtimes]. Default: benchforge's own interpreter."

    def starts_python(self) -> bool:
        """Return True if the interpreter runs the program, so that a check can compare the two."""
        return True


def _nameable(path: str) -> str:
    """Refuse a path that no file system can have: to look for it would be an error."""
    if any(len(name.encode()) > _LONGEST_NAME for name in Path(path).parts):
        raise ValueError(f"a name in a path takes {_LONGEST_NAME} bytes at most")
    if len(path.encode()) > _LONGEST_PATH:
        raise ValueError(f"a path takes {_LONGEST_PATH} bytes at most")
    return path


class ServesCode(Part):
    """A part that runs the user's code, from the working tree or from a commit.

    Its command takes folders and programs from `site.own`, so that they are of that commit.
    """

    directory: Annotated[str, AfterValidator(_nameable)] | None = None
    "Folder of your code, relative to the suite's folder. Default: the suite's folder."
    ref: str | None = Field(default=None, pattern=r"^[^-\s][^\x00-\x1f]*$")
    """Branch, tag or commit of the git repository that contains the directory. The server then \
runs that version instead of the working tree."""

    def needs(self) -> Iterable[Need]:
        """Return git if the part serves a commit."""
        return () if self.ref is None else [GIT]

    def code(self, suite_folder: Path) -> Path | None:
        """Return the folder of the user's code; None if there is none."""
        if self.directory is None and self.ref is None:
            return None
        return (suite_folder / (self.directory or "")).absolute()

    def reads(self, suite_folder: Path) -> Iterable[Path]:
        """Return the folder of the user's code, unless it serves a commit."""
        return filter(None, () if self.ref is not None else (self.code(suite_folder),))

    def check_code(self, suite_folder: Path) -> None:
        """Raise WrongOption if the code is missing; not called if the part serves a commit."""
        folder = self.code(suite_folder)
        if folder is not None and not folder.is_dir():
            hint = f"it is relative to the suite's folder, {suite_folder.absolute()}"
            raise WrongOption(f"no folder {folder.resolve()}", "directory", hint=hint)


class Server(Service):
    """A service that answers the scenario's requests."""

    kind: ClassVar[Kind] = "server"

    def upstreams(self) -> Sequence[str]:
        """Return the labels of the upstream servers, which start first.

        They come from an option `upstream` or `upstreams`. A different upstream makes a different
        case; a different label of it does not.
        """
        return ()

    def behind_proxy_only(self) -> bool:
        """Return True if only a proxy can send requests to it: it does not speak HTTP over TCP."""
        return False

    def certificate(self, site: Site) -> Path | None:
        """Return the PEM file that TLS clients must trust; None if the server makes none."""
        return None

    def gives(self, site: Site) -> Mapping[str, str]:
        """Return the values for a proxy in front of it: `url`, without a slash at its end."""
        return {"url": self.url(site)}

    def url(self, site: Site) -> str:
        """Return the root URL of the server, without a slash at its end."""
        return site.url


class Backend(Service):
    """A service that servers depend on."""

    kind: ClassVar[Kind] = "backend"
    offers: ClassVar[tuple[str, ...]] = ()
    "Names of the values that `gives` returns. A suite that uses another name has an error."
    stop_signal: ClassVar[signal.Signals] = signal.SIGINT
    serves_hosts: ClassVar[bool] = False
    """True if it can serve other hosts: it listens on `site.address`, and takes connections of \
`site.peers` with a credential that is made for the trial."""
    frozen_with_server: ClassVar[bool] = False
    "True if turns were validated with an instance for each server, frozen with it."

    def why_not_in_turns(self) -> str:
        """Return why it cannot be frozen while others have their turn; empty if it can."""
        if self.outside() or self.frozen_with_server:
            return super().why_not_in_turns()
        return f"turns were not validated with {self.name}"


class Driver(Part):
    """A process that loads a target, prints numbers and ends."""

    sleeps: ClassVar[bool] = True
    "True if the tool waits for the server without using a CPU, as nearly all do."
    ends_on_time: ClassVar[bool] = False
    "True if the tool ends when its duration is over, whatever requests are under way."
    http_version: ClassVar[str | None] = None
    "Version of HTTP in its requests, such as HTTP/1.1; None if it depends or is unknown."
    alpn: ClassVar[bool] = False
    "True if over TLS the tool offers HTTP/2 and HTTP/1.1, of which the server chooses."
    tells_kinds: ClassVar[bool] = False
    "True if the tool reports the requests of each kind of a mix apart: `Reading.kinds`."
    interrupted_by: ClassVar[signal.Signals | None] = None
    """Signal at which the tool ends its load and reports, if benchforge may freeze it in a closed \
loop and let it go on: its servers can then take turns. `read` reports `received_bytes`."""

    def files(self, target: Target) -> Mapping[str, str]:
        """Return the files to write into the target's folder, by name: a request's body."""
        body, file = target.request.body, target.body_file
        return {} if body is None or file is None else {file.name: body}

    @abstractmethod
    def commands(self, target: Target) -> Sequence[Command]:
        """Return the commands. The first is the main one: its end is the end of the load."""

    def why_not_in_turns(self) -> str:
        """Return why it cannot take turns; empty if it can: see `Target.turns`."""
        return "" if self.interrupted_by else f"{self.name} cannot pause and go on"

    def why_no_kinds(self, requests: Mapping[str, Request]) -> str:
        """Return why it cannot send a mix of these kinds, after its label; empty if it can."""
        return "sends one request again and again"

    def why_no_flows(self, takes: Sequence[str]) -> str:
        """Return why it cannot send flows that take these values; empty if it can."""
        return "cannot use what an answer gave"

    @abstractmethod
    def read(self, output: Output) -> Reading:
        """Return what the tool reports. Raises OutputDamaged if a number is missing."""

    @abstractmethod
    def declared_s(self) -> float:
        """Return the length of one load by its options, in seconds (an estimate for a count)."""

    def grace_s(self) -> float:
        """Return how long a load may go on after `declared_s` before it is ended, in seconds.

        A tool that ends on time has 10 s to start and to report. Another waits for requests under
        way too, for its `timeout`. The length of a count of requests is a guess: 30 s, and half.
        """
        if self.ends_on_time:
            return GRACE_S
        if self._more_than_0("duration") is None or self._more_than_0("requests"):
            return GUESS_S + self.declared_s() / 2
        return GRACE_S + (self._more_than_0("timeout") or 0.0)

    def why_unended(self, printed: str) -> str:
        """Return why a load of `printed` output did not end in time; empty if that is unknown."""
        return ""

    def load(self) -> Load:
        """Return the load that its options declare, for the checks."""
        connections = self._whole("connections") or self._whole("users")
        return Load(
            connections=connections,
            keep_alive=getattr(self, "keep_alive", None),
            processes=self._whole("threads"),
            declared_s=self.declared_s(),
            protocol=self.http_version,
            alpn=self.alpn,
            kind="client" if self.kind == "client" else "loader",
            rate=self._more_than_0("rate"),
            concurrency=connections and connections * (self._whole("streams") or 1),
            think_s=self._more_than_0("think") or 0.0,
            sleeps=self.sleeps,
        )

    def _whole(self, option: str) -> int | None:
        number = self._more_than_0(option)
        return int(number) if number is not None and number.is_integer() else None

    def _more_than_0(self, option: str) -> float | None:
        """Return the option as a number; None where an author means something else by its name."""
        value = getattr(self, option, None)
        if not isinstance(value, int | float) or isinstance(value, bool):
            return None
        return float(value) if 0 < value < math.inf else None

    def divided(self, index: int, places: int) -> "Driver | None":
        """Return the share of the load that one of several hosts sends, of equal ones.

        None if the load cannot be divided evenly. `index` counts from 0; random arrivals of each
        share have a seed of their own.
        """
        return None

    @abstractmethod
    def for_warm_up(self, seconds: float) -> "Driver":
        """Return the same load with a length of `seconds`, for the warm-up."""


class Loader(Driver):
    """A load tool."""

    kind: ClassVar[Kind] = "loader"
    proved: ClassVar[Literal["run", "recordings"]] = "run"
    "Test of the parser: by running the tool, or on recordings of its output."
    tells_lateness: ClassVar[bool] = False
    """True if the tool reports, for a `rate`, how many requests were due and how late it sent them.
    Only with such a tool is a missed rate known to be the server's, so a scenario can search."""


class Client(Driver):
    """An HTTP library that sends requests."""

    kind: ClassVar[Kind] = "client"


class Metric(Part):
    """A quantity that is computed from each trial."""

    kind: ClassVar[Kind] = "metric"
    unit: ClassVar[str]
    "Unit of the values; 1 for a number or a share."
    better: ClassVar[Literal["higher", "lower"]]
    "Better direction of the values."
    in_turns: ClassVar[bool] = False
    "True if ratios of its values are valid where servers take turns."
    of_kinds: ClassVar[bool] = False
    "True if its values follow from the reading alone, so that each kind of a mix has its own."
    fixed_parts: ClassVar[tuple[str | None, ...]] = ()
    "Possible values of `of` in its samples, if no option selects them."
    once: ClassVar[tuple[str, ...]] = ()
    "Parts that are measured once in a run: not every trial has a value of them."
    measurand: ClassVar[Measurand] = ""
    """The quantity, if benchforge treats it specially. Failed requests stand out in reports, and a
    search for a rate limits them; checks of response times or CPU time concern these only."""

    @abstractmethod
    def of_trial(self, trial: "Trial", label: str, window: Window) -> Iterator[Sample]:
        """Yield the samples of one measured trial, under the metric's label in the suite.

        `window` gives the seconds of warm-up from the load's start; `kept(trial, window)` returns
        the rest. A metric that cannot exclude the warm-up covers the whole load.
        """

    def parts(self) -> tuple[str | None, ...]:
        """Return the possible values of `of` in its samples, None for the whole; () if it depends.

        By default they are those of the option `of`, else `fixed_parts`. benchforge then reports a
        claim with a wrong part as an error before anything starts. `p99` is a percentile of the
        response times: the checks judge the percentiles that metrics list.
        """
        parts: tuple[str | None, ...] = getattr(self, "of", self.fixed_parts)
        return parts

    @classmethod
    def percentile_of(cls, part: str | None) -> float | None:
        """Return the percentile that a part is, in percent: by default that of its name, as p99."""
        return percentile(part)


class Reporter(Part):
    """A format in which a result is presented."""

    kind: ClassVar[Kind] = "reporter"
    appended_to: ClassVar[str] = ""
    """Environment variable that names a file to append the output to, such as GITHUB_STEP_SUMMARY.
    It applies if the reporter is chosen by name."""

    @abstractmethod
    def report(self, summary: "Summary", trials: "Sequence[Trial]", folder: Path) -> Sequence[Path]:
        """Write files into the folder and return their paths."""

    def text(
        self,
        summary: "Summary",
        trials: "Sequence[Trial]",
        width: int | None = None,
        colour: bool = False,
    ) -> str:
        """Return the text for a terminal, complete without a width; empty by default."""
        return ""
