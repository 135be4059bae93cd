"""`benchforge calibrate`: how loud this machine is, and what differences it can show."""

import itertools
import math
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import click

from benchforge.checks import ask
from benchforge.checks.limits import Thresholds, limits
from benchforge.checks.machine import calibrated
from benchforge.cli.console.lock import locked
from benchforge.cli.console.options import MACHINE_LOCK, Lock, click_command, option
from benchforge.cli.console.say import say, show
from benchforge.errors import NoAnswer, can_write
from benchforge.model.files.calibration import Calibration
from benchforge.model.suite.placement import Tuning
from benchforge.model.trial.answers.answer import Expect, Request
from benchforge.model.trial.trial import Trial
from benchforge.model.values.case_name import CaseName
from benchforge.model.values.distribution import own_version
from benchforge.model.values.units import Duration
from benchforge.parts.part import Driver
from benchforge.parts.registry import Registry
from benchforge.run.ceiling.null_server import LABEL, NullServer
from benchforge.run.disk.leftovers import cleared
from benchforge.run.disk.result_writer import whole
from benchforge.run.disk.scratch import scratch_folder
from benchforge.run.locate import locate
from benchforge.run.machine.calibration import machine, place
from benchforge.run.sandbox.host import LocalHost
from benchforge.run.trial.context import TrialContext, TrialInputs, locate_programs
from benchforge.run.trial.measure import measure
from benchforge.stats.inference.interval import resolved
from benchforge.stats.observation import spread
from benchforge.suite.cases.case import Case
from benchforge.suite.plan import START_AND_STOP_S, Measurement
from benchforge.text.readable import counted, exact, figure, percent, spoken

CONNECTIONS = 16
BODY_BYTES = 64
BLOCKS = (5, 10, 20)


class _Options:
    seconds: int = option(
        type=click.IntRange(1, 600), default=5, help="Length of each round in seconds."
    )
    count: int = option(
        "--rounds", type=click.IntRange(2, 1000), default=20, help="Number of rounds."
    )
    machine_lock: Lock = MACHINE_LOCK


@click_command("calibrate", _Options)
def command(options: _Options) -> None:
    """Measure the noise of this machine while nothing else runs.

    wrk (or pace, if wrk is not installed) loads a null server. benchforge keeps the values of the
    noise checks in $XDG_STATE_HOME/benchforge/calibration.json. Later runs loosen their thresholds
    to twice the 99 % quantile, if that is above the default. The output also gives the differences
    that 5, 10 and 20 blocks can show on this machine.

    Exit codes: 0 the calibration is kept; 4 the machine is too noisy, a round failed, or
    another process measures and you gave --no-wait; 5 the calibration cannot be written; 130
    and 143 interrupted, nothing is kept.
    """
    seconds, count = options.seconds, options.count
    place()  # before it takes minutes
    driver, among = tool(seconds, Registry()), limits()
    trials: list[Trial] = []
    with locked(options.machine_lock) as holder:
        if cleared_places := cleared():
            say(cleared_places)
        takes = spoken(count * (seconds + START_AND_STOP_S))
        say(f"{counted(count, 'round')} of {seconds} s, {driver.name}: about {takes}")
        for trial in rounds(driver, count, among):
            trials.append(trial)
            made = trial.reading
            rate = f"{figure(made.responses / made.seconds)} responses/s" if made else ""
            say(f"[{len(trials):{len(str(count))}}/{count}] {rate}")
    calibration = calibration_of(trials, driver, among, holder)
    reason = calibrated.loud(calibration, among)
    loosened = {} if reason else calibrated.thresholds(calibration, among)
    show("\n".join(_lines(calibration, among, loosened)))
    if reason:
        hint = "stop other processes (`benchforge doctor` lists them), then calibrate again"
        raise NoAnswer(f"not kept: {reason}", hint)
    say(f"written: {keep(calibration)}")


def _lines(result: Calibration, among: Thresholds, loose: Mapping[str, float]) -> Iterator[str]:
    yield f"{'':24}{'median':>10}{'99 %':>10}{'largest':>10}{'warns at':>10}  unit"
    for id_ in calibrated.ids(among):
        limit, values = among[id_], result.observed.get(id_)
        title = f"{id_} {limit.name}"
        if not values:
            yield f"{title:24}unknown: {result.unknown.get(id_, 'no round has a value')}"
            continue
        numbers = "".join(f"{quantile:10.4g}" for quantile in spread(values))
        warns = f"{loose.get(id_, limit.warn):10.4g}"
        rounds = len(result.per_second)
        of_rounds = "" if len(values) == rounds else f" (in {len(values)} of {rounds} rounds)"
        was = f", loosened from {exact(limit.warn)}" if id_ in loose else ""
        yield f"{title:24}{numbers}{warns}  {limit.unit}{of_rounds}{was}"
    sd, rate = between_neighbours(result.per_second), figure(median(result.per_second))
    yield f"throughput: {rate} responses/s; one round differs from the next by {percent(sd)}"
    differences = ", ".join(f"{n} blocks {percent(least)}" for n, least in shown(sd).items())
    differences = differences or "unknown, since all rounds were equal"
    yield f"smallest difference that is shown in 80 % of cases, at best: {differences}"


def tool(seconds: int, registry: Registry) -> Driver:
    """Return the load of a round: wrk where it is installed, else pace; both as fast as they go."""
    name = "wrk" if locate("wrk") else "pace"
    options = {"connections": CONNECTIONS, "duration": Duration(seconds)}
    made = registry.part("loader", name).model_validate(options)
    assert isinstance(made, Driver)  # noqa: S101 - the kind says so
    return made


def rounds(driver: Driver, count: int, limits: Thresholds) -> Iterator[Trial]:
    """Yield `count` trials of the null server. Raises NoAnswer for one that fails."""
    context = TrialContext(
        host=LocalHost(),
        programs=locate_programs(driver.needs()),
        python=Path(sys.executable),
        suite_folder=Path.cwd(),
        network="private",
        secrets=frozenset(),
        as_root=os.geteuid() == 0,
    )
    case = Case(
        name=CaseName(scenario="calibrate", server=LABEL, driver=driver.name, vary={}, digest=""),
        server=NullServer(body_bytes=BODY_BYTES),
        backends=(),
        driver=driver,
        request=Request(),
        expect=Expect(length=BODY_BYTES),
        metrics=(),
        warm_up_s=0.0,
        tuning=Tuning(),
    )
    for number in range(1, count + 1):
        with scratch_folder() as scratch:
            folder = scratch / "round"
            folder.mkdir()
            step = Measurement(block=number, position=1, case=case, seed=0)
            trial = measure(TrialInputs(step, folder, number), context).trial
        if trial.failure is not None:
            raise NoAnswer(f"round {number}: {trial.failure.message}", trial.failure.hint)
        yield trial.model_copy(update={"checks": (*trial.checks, *ask.of_trial(trial, limits))})


def calibration_of(
    trials: Sequence[Trial], driver: Driver, limits: Thresholds, holder: str
) -> Calibration:
    """Return the calibration that trials make. `limits` are those that come with benchforge."""
    values, unknown = calibrated.seen(trials, limits)
    readings = [trial.reading for trial in trials if trial.reading is not None]
    return Calibration(
        created=datetime.now(UTC),
        benchforge=own_version(),
        machine=machine(),
        thresholds_version=limits.version,
        loader=driver.name,
        seconds=driver.declared_s(),
        per_second=tuple(reading.responses / reading.seconds for reading in readings),
        observed={id_: tuple(value) for id_, value in values.items()},
        unknown=unknown,
        lock_holder=holder,
    )


def keep(calibration: Calibration) -> Path:
    """Write a calibration over an older one. Raises CannotKeep where that fails."""
    file = place()
    with can_write(file, "make room or give rights there, or set XDG_STATE_HOME"):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        whole(file.parent, file.name, calibration)
    return file


def between_neighbours(values: Sequence[float]) -> float:
    """Return the standard deviation of the log-ratio of one value to the next: 0.02 is 2 %.

    That is what a comparison of a server with itself has, block by block: a slow drift does not
    count. It takes two positive values at least. Source: the mean square successive difference,
    von Neumann 1941.
    """
    logs = [math.log(value) for value in values]
    squares = [(later - earlier) ** 2 for earlier, later in itertools.pairwise(logs)]
    return math.sqrt(math.fsum(squares) / len(squares))


def shown(sd: float) -> dict[int, float]:
    """Return the smallest difference found with 80 % power, by blocks; none if `sd` is 0."""
    return {blocks: math.expm1(resolved(sd, blocks)) for blocks in BLOCKS} if sd else {}
