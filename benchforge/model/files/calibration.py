"""Calibration: the noise of a machine on which nothing but a measurement runs."""

from typing import Literal

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt, model_validator

from benchforge.model.values.bounds import Moment
from benchforge.model.values.frozen import Frozen


class MachineId(Frozen):
    """Identity of the calibrated machine. Another value of any field means another machine."""

    id: str
    "Digest of the machine's own id and of its CPUs."
    kernel: str
    "Release of the kernel."
    cpus: PositiveInt
    "Number of CPUs that benchforge may use."


class Calibration(Frozen):
    """Calibration: values that the checks saw on an idle machine, round by round."""

    format: Literal[2] = 2
    "Version of the file format."
    kind: Literal["calibration"] = "calibration"
    "Kind of this file."
    created: Moment
    "Time of the measurement, with its time zone."
    benchforge: str
    "Version of benchforge that measured."
    machine: MachineId
    "Machine that was measured."
    thresholds_version: str
    "Version of the checks' thresholds. Other versions may use other values."
    loader: str
    "Name of the load tool that loaded the null server in a closed loop."
    seconds: PositiveFloat
    "Declared length of each round."
    per_second: tuple[PositiveFloat, ...] = Field(min_length=2)
    "Responses per second of each round, in order of time."
    observed: dict[str, tuple[NonNegativeFloat, ...]] = Field(default_factory=dict)
    "Values that each check saw, one for each round that has it, by the check's id, such as N1."
    unknown: dict[str, str] = Field(default_factory=dict)
    "Reasons why no round has a value, by the check's id."
    lock_holder: str = ""
    "Process that had the machine's lock. Empty if benchforge had it."

    @model_validator(mode="after")
    def _observed_or_unknown(self) -> "Calibration":
        for id_, values in self.observed.items():
            if not 0 < len(values) <= len(self.per_second):
                msg = f"{id_} has {len(values)} values, of {len(self.per_second)} rounds"
                raise ValueError(msg)
        if contradictory := self.observed.keys() & self.unknown.keys():
            raise ValueError(f"{min(contradictory)} is observed and unknown")
        return self
