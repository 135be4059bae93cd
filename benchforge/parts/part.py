"""Something that a plugin brings: a frozen model of its own options, which answers questions.

A part never starts anything: the host acts on what it answers. An option never shadows a method:
`argv: list[str] = Field(alias="command")`.
"""

import math
import signal
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from benchforge.model.reading import Reading
from benchforge.model.sample import Sample
from benchforge.model.summary import Summary
from benchforge.model.trial import Load, Trial
from benchforge.model.units import Duration
from benchforge.model.window import Window
from benchforge.parts.command import Command, Need, Task
from benchforge.parts.probe import Probe, RightAnswer
from benchforge.parts.site import Output, Site, Target

Kind = Literal["server", "backend", "loader", "client", "metric", "reporter"]

UPSTREAM_OPTIONS = ("upstream", "upstreams")
"The options by which a server names those that it stands before."

GIT = Need("git", debian="git")
"It tells of commits, and checks them out."


class Part(BaseModel, ABC):
    """The options of a part, as TOML gives them; `use` is the part's own name."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        defer_build=True,
        validate_by_name=False,
    )

    kind: ClassVar[Kind]
    name: ClassVar[str]
    "What a suite says after `use`."

    def needs(self) -> Iterable[Need]:
        """Return the programs and packages that must be there, each with how to install it."""
        return ()

    def version(self, site: Site) -> Command | None:
        """Return a command that prints the version; asked once for a suite."""
        return None

    def fingerprint(self, suite_folder: Path) -> str:
        """Return a digest of the code that it serves: other code makes another case."""
        return ""


class Service(Part):
    """A process that starts, becomes ready and is stopped."""

    ports: ClassVar[tuple[str, ...]] = ("http",)
    "Their names: each gets a free one."
    stop_signal: ClassVar[signal.Signals] = signal.SIGTERM
    "The polite one: what ends the program at its best."
    shares_work: ClassVar[tuple[str, ...]] = ("workers", "threads")
    "Its options whose product is how much it works at, at a time."

    ready_within: Duration = Duration(30)
    "How long it may take until it is ready."

    def files(self, site: Site) -> Mapping[str, str]:
        """Return the files to write into the site's folder, by name, before anything starts."""
        return {}

    def template(self, site: Site) -> Sequence[Task]:
        """Return what fills `site.scratch` once for all trials: it is copied for each of them."""
        return ()

    def template_key(self, site: Site) -> str:
        """Return what the template depends on beside its tasks and programs: the files it reads."""
        return ""

    def workers_told(self) -> int | None:
        """Return how many workers times threads it is told to have; None where it has no such."""
        told = [getattr(self, name, None) for name in self.shares_work]
        counts = [count for count in told if isinstance(count, int)]
        return math.prod(counts) if counts else None

    def outside(self) -> bool:
        """Whether it already runs outside the trial: then the trial uses the host's network."""
        return False

    def prepare(self, site: Site) -> Iterable[Task]:
        """Return what is to be done in each trial before the start."""
        return ()

    @abstractmethod
    def command(self, site: Site) -> Command | None:
        """Return the command that serves; None for something that already runs."""

    def ready(self, site: Site) -> Probe:
        """Return how to see that it is ready."""
        return RightAnswer()

    def verify(self, site: Site) -> Iterable[Task]:
        """Return what is asked once it is ready, before anything depends on it."""
        return ()

    def gives(self, site: Site) -> Mapping[str, str]:
        """Return what dependants get: `url` and names in capitals for their environment."""
        return {}


class RunsPython(Part):
    """A part whose program is Python, by an interpreter that the suite may choose."""

    runtime: str | None = None
    "A label of [runtimes]; benchforge's own interpreter without it."


class ServesCode(Part):
    """A part whose code is the user's own: served from where it lies, or as a commit has it.

    Its command takes folders and programs from `site.own`, so that they are of that commit.
    """

    directory: str | None = None
    "Where your own code is; starts at the suite's folder, which it is without it."
    ref: str | None = Field(default=None, pattern=r"^[^-\s][^\x00-\x1f]*$")
    """A branch, tag or commit of the git repository that the directory is in: your own code as it \
was there, in place of the working tree."""

    def needs(self) -> Iterable[Need]:
        """Return git, where a commit is served."""
        return () if self.ref is None else [GIT]

    def code(self, suite_folder: Path) -> Path | None:
        """Return the folder of the user's own code; None where it has none of its own."""
        if self.directory is None and self.ref is None:
            return None
        return (suite_folder / (self.directory or "")).absolute()


class Server(Service):
    """A service that answers the scenario's requests."""

    kind: ClassVar[Kind] = "server"

    def upstreams(self) -> Sequence[str]:
        """Return the labels of the servers that it stands before: they start first.

        They come from an option `upstream` or `upstreams`: what is behind it makes another case,
        what that is called does not.
        """
        return ()

    def behind_proxy_only(self) -> bool:
        """Whether nobody can ask it over HTTP and TCP but a server that stands before it."""
        return False

    def certificate(self, site: Site) -> Path | None:
        """Return the PEM file that is trusted by who speaks TLS to it; None where none is made."""
        return None

    def gives(self, site: Site) -> Mapping[str, str]:
        """Return what a server that stands before it gets: `url`, without a slash at its end."""
        return {"url": self.url(site)}

    def url(self, site: Site) -> str:
        """Return the root of the server, without a slash at its end."""
        return site.url


class Backend(Service):
    """A service that servers depend on."""

    kind: ClassVar[Kind] = "backend"
    offers: ClassVar[tuple[str, ...]] = ()
    "The names of what `gives` returns: who asks for another is told when a suite is read."
    stop_signal: ClassVar[signal.Signals] = signal.SIGINT


class Driver(Part):
    """A process that runs to its end against a target, and prints numbers."""

    sleeps: ClassVar[bool] = True
    "Whether it waits for the server without using a CPU, as nearly all do."

    def files(self, target: Target) -> Mapping[str, str]:
        """Return the files to write into the target's folder, by name: a request's body."""
        body, file = target.request.body, target.body_file
        return {} if body is None or file is None else {file.name: body}

    @abstractmethod
    def commands(self, target: Target) -> Sequence[Command]:
        """Return the commands, the main one first: it ends the load."""

    @abstractmethod
    def read(self, output: Output) -> Reading:
        """Return what the tool says. Raises OutputDamaged when something is missing."""

    @abstractmethod
    def declared_s(self) -> float:
        """Return how long one load takes by its options, in seconds (an estimate for a count)."""

    def load(self) -> Load:
        """Return what it is told to do, for the checks: by its options of these names."""
        connections = self._whole("connections", self._whole("users", None))
        return Load(
            connections=connections,
            keep_alive=getattr(self, "keep_alive", None),
            processes=self._whole("threads", None),
            declared_s=self.declared_s(),
            kind="client" if self.kind == "client" else "loader",
            rate=self._more_than_0("rate"),
            at_once=None if connections is None else connections * (self._whole("streams", 1) or 1),
            think_s=self._more_than_0("think") or 0.0,
            sleeps=self.sleeps,
        )

    def _whole(self, option: str, otherwise: int | None) -> int | None:
        told = self._more_than_0(option)
        return int(told) if told is not None and told.is_integer() else otherwise

    def _more_than_0(self, option: str) -> float | None:
        """Return the option as a number; None where an author means something else by its name."""
        told = getattr(self, option, None)
        if not isinstance(told, int | float) or isinstance(told, bool):
            return None
        return float(told) if 0 < told < math.inf else None

    @abstractmethod
    def for_warm_up(self, seconds: float) -> "Driver":
        """Return the same load for so many seconds, for the warm-up."""


class Loader(Driver):
    """A load tool."""

    kind: ClassVar[Kind] = "loader"
    proved: ClassVar[Literal["run", "recordings"]] = "run"
    "Whether our tests run the tool, or only read what it once printed."
    tells_lateness: ClassVar[bool] = False
    """Whether, told a `rate`, it says how many requests were due and how late it was itself: only
    then a missed rate is known to be the server's, and a scenario may search for one."""


class Client(Driver):
    """An HTTP library that makes requests."""

    kind: ClassVar[Kind] = "client"


class Metric(Part):
    """A number that is drawn from each trial."""

    kind: ClassVar[Kind] = "metric"
    unit: ClassVar[str]
    "Of its values; 1 for a number or a share."
    better: ClassVar[Literal["higher", "lower"]]
    "Which values are the better ones."

    @abstractmethod
    def of_trial(self, trial: Trial, label: str, window: Window) -> Iterator[Sample]:
        """Yield the samples of one measured trial, under the metric's label in the suite.

        `window` says how many seconds from the load's start are its warm-up: `kept(trial, window)`
        tells what is left. A metric that cannot leave them out is of the whole load.
        """

    def parts(self) -> tuple[str | None, ...]:
        """Return what `of` of its samples can be, None for the whole; nothing where it depends.

        A claim that names no part, or one that never is, is then told before anything starts.
        """
        return ()


class Reporter(Part):
    """A form in which a result is shown."""

    kind: ClassVar[Kind] = "reporter"
    appended_to: ClassVar[str] = ""
    """The variable of the environment that names a file which takes what this reporter writes, as
    GITHUB_STEP_SUMMARY does: it is appended there when somebody asks for this reporter by name."""

    @abstractmethod
    def report(self, summary: Summary, trials: Sequence[Trial], folder: Path) -> Sequence[Path]:
        """Write files into the folder and return their paths."""

    def text(
        self,
        summary: Summary,
        trials: Sequence[Trial],
        width: int | None = None,
        colour: bool = False,
    ) -> str:
        """Return what a person reads on a terminal; nothing by default.

        Without a width, nothing is left out.
        """
        return ""


__all__ = [
    "Backend",
    "Client",
    "Driver",
    "Field",
    "Kind",
    "Loader",
    "Metric",
    "Part",
    "Reporter",
    "RunsPython",
    "Server",
    "ServesCode",
    "Service",
]
