"""How loud a machine is when nothing but a measurement runs on it."""

from datetime import datetime
from typing import Literal

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt, model_validator

from benchforge.model.values.frozen import Frozen


class MachineId(Frozen):
    """What a calibration is of: where one of these differs, it is of another machine."""

    id: str
    "A digest of the machine's own id and of its CPUs."
    kernel: str
    "Its release."
    cpus: PositiveInt
    "How many CPUs we may use."


class Calibration(Frozen):
    """calibration.json: what the checks saw of a machine that was left alone, round by round."""

    format: Literal[2] = 2
    "The number of this format."
    kind: Literal["calibration"] = "calibration"
    "What this file is."
    created: datetime
    "When it was measured, with its time zone."
    benchforge: str
    "Version."
    machine: MachineId
    "Where it was measured."
    thresholds_version: str
    "Version of the checks' thresholds: other versions may look at other numbers."
    loader: str
    "The load tool's own name; it loaded the null server, in a closed loop."
    seconds: PositiveFloat
    "How long each round was, by the tool's options."
    per_second: tuple[PositiveFloat, ...] = Field(min_length=2)
    "Responses per second of each round, in their order."
    observed: dict[str, tuple[NonNegativeFloat, ...]] = Field(default_factory=dict)
    "By the id of a check, such as N1: the value that it looked at, in each round that has it."
    unknown: dict[str, str] = Field(default_factory=dict)
    "Why no round told it, by the id of the check."

    @model_validator(mode="after")
    def _observed_or_unknown(self) -> "Calibration":
        for id_, values in self.observed.items():
            if not 0 < len(values) <= len(self.per_second):
                msg = f"{id_} has {len(values)} values, of {len(self.per_second)} rounds"
                raise ValueError(msg)
        if both := self.observed.keys() & self.unknown.keys():
            msg = f"{min(both)} is observed and unknown"
            raise ValueError(msg)
        return self
