"""`benchforge calibrate`: how loud this machine is, and what differences it can show."""

from collections.abc import Iterator, Mapping
from statistics import median

import click

from benchforge.checks.limits import Thresholds, limits
from benchforge.checks.machine import calibrated
from benchforge.cli.console.lock import locked
from benchforge.cli.console.options import MACHINE_LOCK, Lock, click_command, option
from benchforge.cli.console.say import say, show
from benchforge.cli.machine.calibrate.rounds import (
    between_neighbours,
    calibration_of,
    keep,
    rounds,
    shown,
    tool,
)
from benchforge.errors import NoAnswer
from benchforge.model.files.calibration import Calibration
from benchforge.model.trial.trial import Trial
from benchforge.parts.registry import Registry
from benchforge.run.disk.leftovers import cleared
from benchforge.run.machine.calibration import place
from benchforge.stats.observation import spread
from benchforge.suite.plan import START_AND_STOP_S
from benchforge.text.readable import counted, exact, figure, percent, spoken


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
