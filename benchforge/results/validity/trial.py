"""Rules for the values of one trial; for its usage, by its duration and by the machine."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from pydantic import JsonValue

from benchforge.model.trial.answers.answer import Answer
from benchforge.model.trial.observation import Observation, Usage
from benchforge.model.trial.reading import Load, Reading
from benchforge.model.trial.trial import StartedProcess, Trial
from benchforge.model.trial.turns import Turns
from benchforge.results.validity.contradiction import BRIEF_S, Contradiction, beneath
from benchforge.results.validity.identities import MORE
from benchforge.results.validity.reading import counts, moments, times, windows
from benchforge.text.readable import exact

_TICK_S = 0.02  # CPU time of a process is read in ticks, twice
_ROUNDED_S = 1e-9
_OPENED, _ARRIVED = "TcpActiveOpens", "IpExtInOctets"


@dataclass(frozen=True)
class MachineBounds:
    """Limits of the resources of a machine; None: unknown."""

    cpus: int | None = None
    memory_bytes: int | None = None

    @classmethod
    def of(cls, facts: Mapping[str, JsonValue]) -> "MachineBounds":
        """Return the limits in the facts of a header."""
        if isinstance(hosts := facts.get("hosts"), dict):
            each = [cls.of(value) for value in hosts.values() if isinstance(value, dict)]
            sizes = [machine.memory_bytes for machine in each if machine.memory_bytes is not None]
            return cls(sum(machine.cpus or 0 for machine in each) or None, max(sizes, default=None))
        cpus, memory_kb = facts.get("cpus"), facts.get("memory_kb")
        return cls(
            cpus if isinstance(cpus, int) else None,
            memory_kb * 1024 if isinstance(memory_kb, int) else None,
        )

    def cpu_s(self, seconds: float, processes: int = 1) -> float:
        """Return the most CPU seconds that this number of processes can use in a time."""
        if self.cpus is None:
            return float("inf")
        return seconds * self.cpus * MORE + BRIEF_S + processes * _TICK_S


def used(trial: Trial, machine: MachineBounds) -> Iterator[Contradiction]:
    """Say which times, CPU times, sizes and connections cannot be."""
    for number, process in enumerate(trial.processes):
        yield from beneath(("processes", number), _of_process(process, trial, machine))
    if (observation := trial.observation) is None:
        return
    yield from beneath(("observation",), _of_observation(observation, trial, machine))
    if trial.reading is not None:
        at_once = trial.load.concurrency if trial.load is not None else None
        yield from beneath(("reading",), _of_reading(trial.reading, observation, at_once, machine))


def _of_process(
    process: StartedProcess, trial: Trial, machine: MachineBounds
) -> Iterator[Contradiction]:
    if process.seconds is None:
        return
    if process.seconds > trial.seconds:
        message = f"{exact(process.seconds)} s are more than the trial's {exact(trial.seconds)} s"
        yield message, ("seconds",)
    cpu_s = (process.user_s or 0.0) + (process.system_s or 0.0)
    if cpu_s > machine.cpu_s(process.seconds):
        yield _too_much_cpu(cpu_s, process.seconds, machine), ("user_s",)


def _of_observation(
    observation: Observation, trial: Trial, machine: MachineBounds
) -> Iterator[Contradiction]:
    load_s = trial.phases.get("load")
    if load_s is not None and observation.seconds > load_s:
        message = f"{exact(observation.seconds)} s are more than the phase load, {exact(load_s)} s"
        yield message, ("seconds",)
    seconds, sampler_s = observation.seconds, observation.sampler_cpu_s
    if sampler_s > machine.cpu_s(seconds):
        yield _too_much_cpu(sampler_s, seconds, machine), ("sampler_cpu_s",)
    cpu_s = sum(usage.cpu_s or 0.0 for usage in observation.usage)
    processes = sum(usage.processes or 1 for usage in observation.usage)
    if cpu_s > machine.cpu_s(seconds, processes):
        yield _too_much_cpu(cpu_s, seconds, machine), ("usage",)
    for number, usage in enumerate(observation.usage):
        yield from beneath(("usage", number), _of_usage(usage, trial, machine))


def _of_usage(usage: Usage, trial: Trial, machine: MachineBounds) -> Iterator[Contradiction]:
    peak = usage.peak_pss_bytes
    if peak is not None and machine.memory_bytes is not None and peak > machine.memory_bytes:
        message = f"{peak} bytes are more than the machine's {machine.memory_bytes}"
        yield message, ("peak_pss_bytes",)
    if peak is not None and not usage.pss_samples:
        yield "no sample, but `peak_pss_bytes` has a size", ("pss_samples",)
    mine = [process for process in trial.processes if process.label.startswith(usage.label)]
    timed = [process for process in mine if process.user_s is not None]
    cpu_times = [(process.user_s or 0.0) + (process.system_s or 0.0) for process in timed]
    if usage.role != "loader" or usage.cpu_s is None or not mine or len(cpu_times) < len(mine):
        return
    if trial.turns is not None:  # it is that of the slices alone
        return
    # It is more where daemons of the tool live on: their time is of no process that ended.
    if usage.cpu_s < sum(cpu_times) - _ROUNDED_S:
        message = f"is {exact(usage.cpu_s)} s, its processes used {exact(sum(cpu_times))} s"
        yield message, ("cpu_s",)


def _of_reading(
    reading: Reading, observation: Observation, at_once: int | None, machine: MachineBounds
) -> Iterator[Contradiction]:
    if reading.seconds > observation.seconds * MORE + BRIEF_S:
        load_s, ran_s = exact(reading.seconds), exact(observation.seconds)
        message = f"a load of {load_s} s, by a tool that ran for {ran_s} s"
        yield message, ("seconds",)
    own_s = (reading.cpu_user_s or 0.0) + (reading.cpu_system_s or 0.0)
    times_s = [usage.cpu_s for usage in observation.usage if usage.role == "loader"]
    loaders_s = [time_s for time_s in times_s if time_s is not None]
    if loaders_s and own_s > sum(loaders_s) * MORE + BRIEF_S:
        message = f"{exact(own_s)} s of CPU time in the load, {exact(sum(loaders_s))} s in all"
        yield message, ("cpu_user_s",)
    for number, took in enumerate(reading.process_s):
        if took > observation.seconds:
            message = f"{exact(took)} s are more than the {exact(observation.seconds)} s of all"
            yield message, ("process_s", number)
    most_s = machine.cpu_s(max(reading.process_s, default=0.0))
    if (reading.process_user_s or 0.0) + (reading.process_system_s or 0.0) > most_s:
        yield "more CPU time than the longest process had", ("process_user_s",)
    arrived = observation.counters.get(_ARRIVED) if observation.network == "private" else None
    if arrived is not None and (reading.received_bytes or 0) > arrived:
        message = f"{reading.received_bytes} were read, but {arrived} came over the network"
        yield message, ("received_bytes",)
    opened = observation.counters.get(_OPENED) if observation.network == "private" else None
    # What a tool counts from its report may hold those that were just to be opened.
    if opened is not None and (reading.connections or 0) > opened + (at_once or 0):
        message = f"{reading.connections} were opened, but the network counted {opened}"
        yield message, ("connections",)


def _too_much_cpu(cpu_s: float, seconds: float, machine: MachineBounds) -> str:
    return f"{exact(cpu_s)} s of CPU time in {exact(seconds)} s, on {machine.cpus} CPUs"


_CRUMB_S = 0.001
_BEFORE_AND_AFTER = 2
_NO_BODY = (204, 304)


def meaning(trial: Trial, machine: MachineBounds) -> Iterator[Contradiction]:
    """Say what in a trial cannot be."""
    if trial.reading is None and trial.failure is None:
        yield "a trial has a reading, or a failure that says why not", ("reading",)
    if (reading := trial.reading) is not None:
        if trial.request.method == "HEAD":
            reading = reading.model_copy(update={"document_bytes": None})
        yield from beneath(("reading",), counts(reading))
        yield from beneath(("reading",), times(reading, _at_once(trial.load)))
    if trial.monitor is not None:
        yield from beneath(("monitor",), moments(trial.monitor))
    if trial.load_answers is not None:
        yield from beneath(("load_answers",), windows(trial.load_answers))
    if trial.turns is not None:
        yield from beneath(("turns",), _slices(trial.turns, trial))
    yield from used(trial, machine)
    yield from _phases(trial)
    for number, answer in enumerate(trial.answers):
        yield from beneath(("answers", number), _answer(answer, trial.request.method))
    if trial.measured:
        yield from _measured(trial)


def _at_once(load: Load | None) -> int | None:
    """Return the most requests under way at once; None where times hold more.

    With a rate, times may count from before the send; a client's from before a connection is free.
    """
    if load is None or load.rate is not None or load.concurrency is None:
        return None
    return load.concurrency if load.kind == "loader" or load.concurrency == 1 else None


def _phases(trial: Trial) -> Iterator[Contradiction]:
    phases_s = sum(trial.phases.values())
    if phases_s > trial.seconds + _CRUMB_S:
        yield f"{exact(trial.seconds)} s, but its phases take {exact(phases_s)} s", ("seconds",)
    asked_s = sum(answer.seconds for answer in trial.answers)
    phase_s = sum(trial.phases.get(name, 0.0) for name in ("ask", "finish"))
    if "ask" in trial.phases and asked_s > phase_s + _CRUMB_S:
        yield f"{exact(phase_s)} s, but its questions took {exact(asked_s)} s", ("phases", "ask")


def _document(trial: Trial, reading: Reading, first_answer: Answer) -> Iterator[Contradiction]:
    length = reading.document_bytes
    if length is None or trial.stream is not None or trial.request.method == "HEAD":
        return
    right, expected = trial.good_response, f"{first_answer.length}"
    fits = length == first_answer.length
    if right is not None:
        fits, expected = bool(reading.bodies) or right.fits(length), f"{right.lengths}"
    if not fits:
        message = f"the tool took {length} bytes as right, we {expected}"
        yield message, ("reading", "document_bytes")


def _answer(answer: Answer, method: str) -> Iterator[Contradiction]:
    if not re.fullmatch("[0-9a-f]{64}", answer.sha256):
        yield "is no SHA-256 in hexadecimal digits", ("sha256",)
    if answer.seconds < 0:
        yield f"{exact(answer.seconds)} s are less than nothing", ("seconds",)
    stated = answer.headers.get("content-length", "")
    has_body = method != "HEAD" and answer.status not in _NO_BODY
    counted = has_body and "transfer-encoding" not in answer.headers and stated.isdecimal()
    if counted and stated != str(answer.length):
        yield f"{answer.length} bytes, but its header told {stated}", ("length",)


def _measured(trial: Trial) -> Iterator[Contradiction]:
    reading = trial.reading
    if reading is None:
        return
    if not reading.responses:
        yield "a measured trial has responses", ("reading", "responses")
    if trial.observation is None:
        yield "a measured trial was observed", ("observation",)
    if len(trial.answers) != _BEFORE_AND_AFTER:
        count = len(trial.answers)
        message = f"a measured trial has one before and one after the load, here are {count}"
        yield message, ("answers",)
        return
    (earlier, later), right = trial.answers, trial.good_response
    statuses = {earlier.status, later.status}
    if len(statuses) > 1 and not (right and statuses <= {*right.statuses}):
        message = f"the status was {earlier.status} before the load and {later.status} after it"
        yield message, ("answers", 1, "status")
    yield from _document(trial, reading, earlier)


def _slices(turns: Turns, trial: Trial) -> Iterator[Contradiction]:
    """Say which slices cannot be: a round is missing, two overlap, sums are others."""
    if trial.number not in turns.trials:
        yield f"does not hold {trial.number}, the number of this trial", ("trials",)
    if [slice_.round for slice_ in turns.slices] != [*range(1, turns.rounds + 1)]:
        yield f"are not one for each of {turns.rounds} rounds", ("slices",)
        return
    for number, slice_ in enumerate(turns.slices):
        if slice_.end_s < slice_.start_s:
            yield "ends before it starts", ("slices", number, "end_s")
        ended = slice_.responses + (slice_.failed or 0)
        if slice_.sent is not None and ended > slice_.sent:
            yield f"{ended} requests ended, but {slice_.sent} were sent", ("slices", number, "sent")
    for number, (earlier, later) in enumerate(pairwise(turns.slices), 1):
        if later.start_s < earlier.end_s:
            yield "starts before the one before it ends", ("slices", number, "start_s")
    if trial.reading is not None:
        yield from _in_slices(turns, trial.reading)


def _in_slices(turns: Turns, reading: Reading) -> Iterator[Contradiction]:
    if turns.responses != reading.responses:
        message = f"have {turns.responses} responses, but the load tool {reading.responses}"
        yield message, ("slices",)
    if not math.isclose(turns.seconds, reading.seconds, rel_tol=1e-9, abs_tol=1e-9):
        message = f"take {exact(turns.seconds)} s, but the reading {exact(reading.seconds)} s"
        yield message, ("slices",)
