"""What the load tools of a trial left: the output of one, and what several report together."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from benchforge.checks.answers.answers import judged
from benchforge.checks.answers.counted import counted, counted_kinds
from benchforge.checks.machine.calibrated import limits_of
from benchforge.errors import BenchforgeError
from benchforge.model.trial.reading import Reading
from benchforge.model.trial.trial import StartedProcess, Trial
from benchforge.parts.command import Finished
from benchforge.parts.fault import reading_of
from benchforge.parts.part import Driver
from benchforge.parts.site import Output, Target
from benchforge.remote.session.merged import merged_reading
from benchforge.results.recomputed.verified import Recomputed, plain
from benchforge.results.verify.recompute.recomputed import KeptTrial, Result
from benchforge.run.sandbox.keeper import LARGEST_OUTPUT
from benchforge.suite.mix.record import FILE
from benchforge.text import door
from benchforge.text.readable import too_many

_MOST_LINES = 4_000_000  # of a log with a line for each request


def was_refused(trial: Trial) -> bool:
    """Whether a trial has no reading because its load tool's output could not be read."""
    failure = trial.failure
    late = failure is not None and failure.stage == "read" and trial.observation is not None
    return late and trial.reading is None and not any(each.truncated for each in trial.processes)


def output_of(trial: Trial, file: Path, driver: Driver) -> Output:
    """Return what a driver left beside a trial's file. Raises BenchforgeError if incomplete."""
    label = f"{driver.kind}-{trial.case.driver}"
    mine = [process for process in trial.processes if f"{process.label}-".startswith(f"{label}-")]
    if not mine:
        raise BenchforgeError(f"the trial has no process {label}")
    folder = file.parent.resolve()
    for name in door.files(folder):
        _bounded(folder, name)
    target = Target(
        url=trial.url,
        request=trial.request,
        folder=folder,
        programs={},
        python=Path(sys.executable),
        turns=None if trial.turns is None else folder,
        stream=None if trial.stream is None else folder / FILE,
        kinds=() if trial.stream is None else tuple(trial.stream.kinds),
    )
    return Output(target, tuple(_finished(file, process) for process in mine))


def _bounded(folder: Path, name: str) -> None:
    """Raise BenchforgeError for what no load tool of ours leaves."""
    try:
        size, lines = door.size_of(folder, name), 0
    except OSError as error:
        raise BenchforgeError(f"{name} {error.strerror}") from error
    if size > LARGEST_OUTPUT:
        raise BenchforgeError(f"{name} {too_many(size, LARGEST_OUTPUT, 'bytes')}")
    with door.stream(folder, name) as file:
        while part := file.read(door.MIB):
            lines += part.count(b"\n") + part.count(b"\r")
    if lines > _MOST_LINES:
        raise BenchforgeError(f"{name} {too_many(lines, _MOST_LINES, 'lines')}")


def _finished(file: Path, process: StartedProcess) -> Finished:
    for name in (process.stdout, process.stderr):
        if not door.holds(file.parent, name):
            raise BenchforgeError(f"no {name} beside the trial")
    seconds, user_s, system_s = process.seconds, process.user_s, process.system_s
    if process.exit_code is None or seconds is None or user_s is None or system_s is None:
        raise BenchforgeError(f"the record lacks how {process.label} ended")
    folder = file.parent.resolve()
    out, err = folder / process.stdout, folder / process.stderr
    return Finished(process.exit_code, out, err, seconds, user_s, system_s)


def shares(trial: Trial, driver: Driver) -> Mapping[str, tuple[str, Driver]]:
    """Return process and driver of each load tool, by host; empty if the load is not divided."""
    label = f"{driver.kind}-{trial.case.driver}"
    names = {
        host: name
        for host, host_ in trial.hosts.items()
        for name in (label, f"{host}-{label}")
        if name in host_.parts
    }
    if len(names) < 2:  # noqa: PLR2004 - one has it all
        return {}
    each = (driver.divided(index, len(names)) for index in range(len(names)))
    return {
        host: (name, share)
        for (host, name), share in zip(names.items(), each, strict=True)
        if share is not None
    }


def readings(
    result: Result, stored: KeptTrial, tools: Mapping[str, tuple[str, Driver]]
) -> Iterator[Recomputed]:
    """Yield what each load tool printed, and what they report together. Raises as parts do."""
    each: list[Reading] = []
    label = next(name for name, _ in tools.values())
    for host, (name, driver) in tools.items():
        file, trial = stored.file.file, stored.trial
        if name != label:
            file, trial = file.parent / host / file.name, _as_first(trial, host)
        each.append(good_of(result, trial, reading_of(driver, output_of(trial, file, driver))))
        yield stored.again("hosts", host, "reading", value=plain(each[-1]))
    starts = [stored.trial.hosts[host].started_s or 0.0 for host in tools]
    yield stored.again("reading", value=plain(merged_reading(each, starts)))


def good_of(result: Result, trial: Trial, reading: Reading) -> Reading:
    """Return a reading whose good responses are those that the suite expects."""
    limits_then = limits_of(result.header.model)
    if trial.stream is not None:
        return counted_kinds(trial, reading, trial.stream, limits_then)
    if trial.good_response is not None:
        expect = result.suite.expect(trial.case)
        reading = reading if expect is None else judged(reading, expect, trial.answers)
        return counted(trial, reading, trial.good_response, limits_then)
    return reading


def _as_first(trial: Trial, host: str) -> Trial:
    processes = tuple(
        replace(
            process,
            label=process.label.removeprefix(f"{host}-"),
            stdout=process.stdout.removeprefix(f"{host}/"),
            stderr=process.stderr.removeprefix(f"{host}/"),
        )
        for process in trial.processes
        if process.stdout.startswith(f"{host}/")
    )
    return trial.model_copy(update={"processes": processes})
