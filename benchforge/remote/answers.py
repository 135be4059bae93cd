"""What a host is sent of a suite and a trial; its answers, read strictly: it may send anything."""

import traceback
from collections.abc import Callable
from functools import cache
from ipaddress import IPv4Address
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, Self, TypeVar, get_type_hints

from pydantic import (
    AfterValidator,
    Field,
    NonNegativeInt,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic_core import from_json

from benchforge import errors
from benchforge.errors import BenchforgeError, ServerBroken, TrialFailed
from benchforge.model.trial.trial import Trial
from benchforge.model.values.bounds import Below, Facts, bounded
from benchforge.model.values.frozen import Frozen
from benchforge.model.values.places import dotted, hides, places
from benchforge.remote import wire
from benchforge.run.http.wire.capture import CapturedWindow
from benchforge.run.programs.runtimes import Ready

ANSWERS_WITHIN_S = 20.0
"Longest time of a call in which a host waits for nothing."
MAKES_WITHIN_S, BUILDS_WITHIN_S = 600.0, 3600.0
"Longest time to fill a template or to log users in, and to build a runtime."
_LONGEST = 300
"Characters of a message about an answer."
_OF_OURS = ("CannotKeep", "NoAnswer", "OutputDamaged", "ProgramMissing", "TrialFailed", "Unusable")
_ERRORS: dict[str, type[BenchforgeError]] = {
    name: getattr(errors, name) for name in ("BenchforgeError", *_OF_OURS)
}

Address = Annotated[str, AfterValidator(lambda text: str(IPv4Address(text)))]
Port = Annotated[int, Field(ge=1, le=65_535)]
Count = Annotated[int, Field(ge=0, lt=1 << 64)]
"A counter of a kernel."
Moment = Annotated[float, Field(ge=0, le=1e12)]
"Seconds of a monotonic clock: an age of the machine, and not of the universe."
T = TypeVar("T")


class BootAnswer(Frozen):
    """What the boot program of a host reports."""

    python: str
    machine: str
    have: bool | None = None
    "True if benchforge's files are there; None if this Python cannot run them."


class Begun(Frozen):
    """What a host is."""

    address: Address
    code: str
    facts: Facts


class Prepared(Frozen):
    """What parts lack on a host; if they lack nothing, what their programs are."""

    missing: tuple[tuple[str, str, str], ...] = ()
    "Programs: name, Debian package and how to get it."
    faults: tuple[tuple[str, str], ...] = ()
    "Messages about runtimes and CPUs, with hints."
    cases: str = ""
    digests: dict[str, str] = Field(default_factory=dict)
    versions: dict[str, str] = Field(default_factory=dict)
    runtimes: dict[str, Ready] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if not (self.cases or self.missing or self.faults):
            raise ValueError("has neither cases nor what is missing")
        return self


class StartedService(Frozen):
    """Place of a service, and what it gives to those that use it."""

    address: Address
    ports: dict[str, Port]
    gives: dict[str, str]
    certificate: str | None


class Piece(Frozen, ser_json_bytes="base64", val_json_bytes="base64"):
    """A piece of a file, and the file's size."""

    data: bytes
    size: NonNegativeInt


class SentWindows(Frozen, ser_json_bytes="base64", val_json_bytes="base64"):
    """What the windows of a load got on a host; moments are those of its clock."""

    windows: tuple[CapturedWindow, ...] = Field(max_length=100)


class HostPartOfTrial(Frozen, ser_json_bytes="base64", val_json_bytes="base64"):
    """A host's part of a trial, and the names of its files."""

    trial: Trial
    body: bytes | None
    files: tuple[Below, ...] = Field(max_length=10_000)


class SentError(Frozen):
    """An error on a host."""

    type: str
    message: str
    hint: str = ""
    stage: Annotated[str, Field(pattern="^[a-z]{1,20}$")] = "drive"
    log: str = ""
    about: Literal["behaviour", "apparatus"] = "behaviour"
    broken: bool = False

    @classmethod
    def from_error(cls, error: Exception) -> "SentError":
        """Return an error as it crosses; of a fault of our own, what it is and where."""
        names = [kind.__name__ for kind in type(error).__mro__ if kind.__name__ in _ERRORS]
        if names:
            fields = cls.model_fields.keys() - {"type"}
            fields_of_error = {key: getattr(error, key) for key in fields if hasattr(error, key)}
            return cls(type=names[0], **fields_of_error)
        frames = traceback.extract_tb(error.__traceback__)[-3:]
        way = " > ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames)
        return cls(type="fault", message=f"{type(error).__name__}: {error} ({way})")

    def raised(self, label: str, hide: Callable[[str], str]) -> BenchforgeError:
        """Return the error to raise, with the host's label, in one line and without secrets."""
        message, hint = (" ".join(hide(text).split()) for text in (self.message, self.hint))
        if self.type not in _ERRORS:
            return wire.HostFault(label, f"benchforge failed there: {message[:_LONGEST]}")
        message = f"{label}: {message}"
        if self.type != TrialFailed.__name__:
            return _ERRORS[self.type](message, hint)
        kind = ServerBroken if self.broken else TrialFailed
        failed = kind(self.stage, message, hint, self.log)
        failed.about = self.about
        return failed


class HostSuite(Frozen):
    """A suite, as a host that runs parts reads it."""

    files: str
    "Digest of the files that were brought."
    path: str
    "File of the suite among them."
    trees: tuple[tuple[str | None, str, str, str], ...]
    "Checkouts, each as directory, ref, repository and place."
    text: str
    "The suite, without secrets that the host does not need."
    environment: dict[str, str]
    "Values of the environment that its parts name."
    digests: dict[str, str]
    feeds: bool
    "True if it sends requests, so that it has the files of feeds."
    peers: tuple[str, ...]
    "Addresses of all hosts."
    profile: str | None
    settings: tuple[tuple[str, str], ...]
    only: tuple[str, ...]


class HostStep(Frozen):
    """One trial, as all of its hosts measure it, and this host's share of the load."""

    block: int
    position: int
    seed: int
    run_seed: int
    number: int
    attempt: int
    answer: tuple[str, str] | None
    "Server and body, in Base64, that its own answer must equal."
    share: tuple[int, int] | None
    "Place of the host among those that divide the load, and their number."
    rate: float | None
    "Rate of a search, in requests per second."
    null: dict[str, Any] | None
    "The null server, of a load tool that is measured against it, and its share."


class CallAnswer(Frozen, Generic[T]):
    """The answer to a call."""

    kind: Literal["answer"] = "answer"
    id: int
    value: T


class FailedCall(Frozen):
    """An error instead of an answer."""

    kind: Literal["error"] = "error"
    id: int
    error: SentError


class LostTrial(Frozen):
    """A trial cannot go on: this answers no call."""

    kind: Literal["lost"] = "lost"
    reason: str


def answer_to(call: Callable[..., T], line: bytes) -> CallAnswer[T] | FailedCall | LostTrial:
    """Return what a host sent while a call waits. Raises ValueError, in one line."""
    answer: CallAnswer[T] | FailedCall | LostTrial = parsed(_envelope(call), line)
    return answer


@cache
def _envelope(call: Callable[..., Any]) -> TypeAdapter[Any]:
    shape: Any = get_type_hints(call, include_extras=True)["return"]
    annotated: Any = Annotated
    messages: Any = CallAnswer[shape] | FailedCall | LostTrial
    return TypeAdapter(annotated[messages, Field(discriminator="kind")])


def parsed(adapter: TypeAdapter[T], line: bytes) -> T:
    """Return a line of JSON as its shape. Raises ValueError, which says what is wrong."""
    try:
        value = adapter.validate_json(bounded(line), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        words = (*map(str, first["loc"]), first["msg"])
        raise ValueError(": ".join(" ".join(word.split())[:_LONGEST] for word in words)) from None
    if hides(line, from_json(line)) and (twice := places(line.decode()).twice):
        raise ValueError(f"{dotted(twice[0])[:_LONGEST]}: occurs twice in its object")
    return value
