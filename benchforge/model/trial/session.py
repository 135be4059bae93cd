"""A later session: a run that `--resume` continued."""

from datetime import datetime
from typing import Literal

from pydantic import Field, JsonValue, PositiveInt

from benchforge.model.suite.runtime import Interpreter
from benchforge.model.values.frozen import Frozen


class Session(Frozen):
    """sessions/0002.json: written before its first trial. The first session is in result.json."""

    format: Literal[2] = 2
    "The number of this format."
    kind: Literal["session"] = "session"
    "What this file is."
    number: int = Field(ge=2)
    "Number from 2: the name of the file."
    started: datetime
    "Start of the session, with its time zone."
    first_trial: PositiveInt
    "Its trials are numbered from here on, to where the next session begins."
    differences: tuple[str, ...] = ()
    "Differences of machine and programs to result.json, which --anyway allowed."
    benchforge: str
    "Version."
    versions: dict[str, str]
    "Of each part, as its program told; the label of its runtime stands behind it."
    runtimes: dict[str, Interpreter] = Field(default_factory=dict)
    "What each interpreter that a part runs on told, by label; `benchforge` is our own."
    facts: dict[str, JsonValue]
    "Of the machine."
