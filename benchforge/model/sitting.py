"""A later sitting: a run that went on where an earlier one had ended."""

from datetime import datetime
from typing import Literal

from pydantic import Field, JsonValue, PositiveInt

from benchforge.model.frozen import Frozen
from benchforge.model.runtime import Interpreter


class Sitting(Frozen):
    """sittings/0002.json: written before its first trial; what the first had is in result.json."""

    format: Literal[1] = 1
    "The number of this format."
    kind: Literal["sitting"] = "sitting"
    "What this file is."
    number: int = Field(ge=2)
    "From 2: the name of the file."
    began: datetime
    "With its time zone."
    first_trial: PositiveInt
    "Its trials are numbered from here on, to where the next sitting begins."
    differs: tuple[str, ...] = ()
    "What was another than in result.json, which --anyway allowed: of machine and programs."
    benchforge: str
    "Version."
    versions: dict[str, str]
    "Of each part, as its program told; the label of its runtime stands behind it."
    runtimes: dict[str, Interpreter] = Field(default_factory=dict)
    "What each interpreter that a part runs on told, by label; `benchforge` is our own."
    facts: dict[str, JsonValue]
    "Of the machine."
