"""A later session: a run that `--resume` continued."""

from typing import Literal

from pydantic import Field, JsonValue, PositiveInt

from benchforge.model.suite.code import Interpreter
from benchforge.model.values.bounds import Moment
from benchforge.model.values.frozen import Frozen


class Session(Frozen):
    """A later session, written before its first trial. result.json has the first session."""

    format: Literal[2] = 2
    "Version of the file format."
    kind: Literal["session"] = "session"
    "Kind of this file."
    number: int = Field(ge=2)
    "Number of the session, from 2: the name of the file."
    started: Moment
    "Start of the session, with its time zone."
    first_trial: PositiveInt
    "Number of the session's first trial, in order of time."
    differences: tuple[str, ...] = ()
    "Differences of machine and programs from result.json, which --anyway accepted."
    benchforge: str
    "Version of benchforge that measured."
    versions: dict[str, str]
    "Version that each part's program reports, followed by the label of the part's runtime."
    runtimes: dict[str, Interpreter] = Field(default_factory=dict)
    "Reports of the interpreters that parts run on, by label. `benchforge` is benchforge's own."
    facts: dict[str, JsonValue]
    "Facts about the machine."
