"""`benchforge calibrate`: how loud this machine is, and what differences it can show."""

from collections.abc import Iterator, Mapping
from statistics import median

import click

from benchforge.checks import quiet
from benchforge.checks.limits import Limits, limits
from benchforge.cli.progress import spoken
from benchforge.cli.say import counted, say, show
from benchforge.errors import NoAnswer
from benchforge.graph import START_AND_STOP_S
from benchforge.model.calibration import Calibration
from benchforge.model.trial import Trial
from benchforge.registry import Registry
from benchforge.run.calibration import calibration_of, keep, place, rounds, tool
from benchforge.run.leftovers import cleared
from benchforge.run.lock import measuring
from benchforge.stats.quiet import between_neighbours, shown, spread


@click.command("calibrate")
@click.option(
    "--seconds", type=click.IntRange(1, 600), default=5, show_default=True, help="Of each round."
)
@click.option(
    "--rounds",
    "count",
    type=click.IntRange(2, 1000),
    default=20,
    show_default=True,
    help="So many.",
)
def command(seconds: int, count: int) -> None:
    """Measure how loud this machine is when nothing but a measurement runs on it.

    wrk, or pace where that is not installed, loads a server that does nothing. What the checks of
    noise see then is kept in $XDG_STATE_HOME/benchforge/calibration.json: later runs loosen their
    thresholds to twice the 99 % quantile, where that is above the default. It says what differences
    5, 10 and 20 blocks can show here.

    Exit codes: 0 kept; 4 the machine is too loud to be called quiet, or a round failed; 5 it cannot
    be kept; 130 and 143 interrupted: nothing is kept.
    """
    place()  # before it takes minutes
    driver, among = tool(seconds, Registry()), limits()
    trials: list[Trial] = []
    with measuring():
        if left := cleared():
            say(left)
        takes = spoken(count * (seconds + START_AND_STOP_S))
        say(f"{counted(count, 'round')} of {seconds} s, {driver.name}: about {takes}")
        for trial in rounds(driver, count, among):
            trials.append(trial)
            say(f"[{len(trials):{len(str(count))}}/{count}] {_made(trial)}")
    found = calibration_of(trials, driver, among)
    why = quiet.loud(found, among)
    show("\n".join(_lines(found, among, {} if why else quiet.thresholds(found, among))))
    if why:
        hint = "end what else runs (`benchforge doctor` names it), and calibrate again"
        raise NoAnswer(f"not kept: {why}", hint)
    say(f"written: {keep(found)}")


def _made(trial: Trial) -> str:
    reading = trial.reading
    return "" if reading is None else f"{reading.responses / reading.seconds:,.0f} responses/s"


def _lines(found: Calibration, among: Limits, loosened: Mapping[str, float]) -> Iterator[str]:
    yield f"{'':24}{'median':>10}{'99 %':>10}{'largest':>10}{'warns at':>10}  unit"
    for id_ in quiet.ids(among):
        limit, values = among[id_], found.seen.get(id_)
        title = f"{id_} {limit.name}"
        if not values:
            yield f"{title:24}unknown: {found.unknown.get(id_, 'nobody looked at it')}"
            continue
        numbers = "".join(f"{one:10.4g}" for one in spread(values))
        warns = f"{loosened.get(id_, limit.warn):10.4g}"
        rounds = len(found.per_second)
        some = "" if len(values) == rounds else f" (in {len(values)} of {rounds} rounds)"
        was = f", loosened from {limit.warn:g}" if id_ in loosened else ""
        yield f"{title:24}{numbers}{warns}  {limit.unit}{some}{was}"
    sd = between_neighbours(found.per_second)
    rate = median(found.per_second)
    yield f"throughput: {rate:,.0f} responses/s; one round differs from the next by {sd:.2%}"
    told = ", ".join(f"{blocks} blocks {least:.2%}" for blocks, least in shown(sd).items())
    told = told or "unknown, since all rounds were equal"
    yield f"smallest difference that is shown in 80 % of cases, at best: {told}"
