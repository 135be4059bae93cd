"""Turns of a server: its slices, and the time between them."""

import math

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt
from pydantic.dataclasses import dataclass

from benchforge.model.values.frozen import ROW, Frozen


@dataclass(frozen=True, slots=True, kw_only=True, config=ROW)
class Slice:
    """A slice of the load, in which no other server ran. Times are seconds of the joint load."""

    round: PositiveInt
    "Number of the round, from 1. Each server has one slice in each round."
    start_s: NonNegativeFloat
    "Time at which the server was thawed."
    end_s: NonNegativeFloat
    "Time at which no request was under way any more: it was frozen after that."
    sent: NonNegativeInt | None
    "Number of requests sent; None if the load tool was frozen with its server."
    responses: NonNegativeInt
    "Number of complete responses of any status."
    received_bytes: NonNegativeInt | None = None
    """Number of bytes that the load tool read, by the kernel, if it was frozen with its server: \
they are shared out to responses. None if the tool counts the responses of each slice."""
    failed: NonNegativeInt | None
    "Number of requests that ended without a complete response; None if it is unknown."
    drained_s: NonNegativeFloat
    "Part of the slice after the last request was allowed to start."
    cpu_s: NonNegativeFloat
    "CPU time of the server, and of all that was frozen with it."
    loader_cpu_s: NonNegativeFloat
    "CPU time of the load tool."
    foreign_cpu_s: float | None
    """CPU time of all other processes and of the hypervisor. The kernel counts it in ticks, so it
    may be a little less than 0. None if it is unknown."""

    @property
    def seconds(self) -> float:
        """Length of the slice."""
        return self.end_s - self.start_s


class ProbedSlice(Frozen):
    """A slice that does not count: it shows whether a rate depends on how long slices are."""

    slice_s: PositiveFloat
    "Length in which requests were started, after the same rest before each slice."
    seconds: PositiveFloat
    "Length of the slice."
    responses: NonNegativeInt
    "Number of complete responses."


class Turns(Frozen):
    """Turns of a trial whose server ran together with the others of its comparison."""

    trials: tuple[PositiveInt, ...] = Field(min_length=2)
    "Numbers of the trials that took turns, this one among them, by their position in the block."
    seed: NonNegativeInt
    "Seed that decides whose turn it is."
    slice_s: PositiveFloat
    "Length in which requests were started in each slice."
    cpus: PositiveInt
    "Number of CPUs that benchforge may use."
    rounds: PositiveInt
    "Number of rounds, an even one."
    slices: tuple[Slice, ...]
    "Slices of this server, one for each round."
    frozen_s: NonNegativeFloat
    "Total time between slices, in which the server was frozen."
    frozen_cpu_s: NonNegativeFloat
    "CPU time that it used in that time."
    longest_freeze_s: NonNegativeFloat
    "Longest time between two slices."
    uncounted_bytes: NonNegativeInt | None = None
    "Number of bytes that a frozen load tool read before the first slice that counts."

    cpu_wait_s: NonNegativeFloat = 0.0
    "Total time in slices in which threads of server and load tool were ready and waited for a CPU."
    probed: tuple[ProbedSlice, ...] = ()
    """Slices of a quarter of the usual length, of that and of four times that in turn, of a server
    that waits for something other than a CPU; none in later blocks."""

    @property
    def log_rates(self) -> tuple[float, ...]:
        """Logarithm of the rate in each round and its mirror; empty if one has no response."""
        pairs = [*zip(self.slices[::2], self.slices[1::2], strict=False)]
        if not all(sum(slice_.responses for slice_ in pair) for pair in pairs):
            return ()
        return tuple(
            math.log(sum(slice_.responses for slice_ in pair))
            - math.log(sum(slice_.seconds for slice_ in pair))
            for pair in pairs
        )

    @property
    def seconds(self) -> float:
        """Length of all slices."""
        return sum(slice_.seconds for slice_ in self.slices)

    @property
    def responses(self) -> int:
        """Number of complete responses of all slices."""
        return sum(slice_.responses for slice_ in self.slices)
