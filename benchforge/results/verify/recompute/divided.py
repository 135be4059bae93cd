"""Several load tools of one trial: the share of each, and what they report as one."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from benchforge.checks.answers.answers import judged
from benchforge.checks.answers.counted import counted, counted_kinds
from benchforge.checks.machine.calibrated import limits_of
from benchforge.model.trial.reading import Reading
from benchforge.model.trial.trial import Trial
from benchforge.parts.fault import reading_of
from benchforge.parts.part import Driver
from benchforge.remote.session.merged import merged_reading
from benchforge.results.recomputed.verified import Recomputed, plain
from benchforge.results.verify.recompute.driver_output import output_of
from benchforge.results.verify.recompute.recomputed import KeptTrial, Result


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
    """Return the trial with the processes of one host, by the names that they had there."""
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
