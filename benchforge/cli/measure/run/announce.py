"""What a run says before it measures."""

from pathlib import Path

from benchforge.cli.console.amount import amount, awaited, lasts
from benchforge.cli.console.say import say
from benchforge.cli.measure.run.inputs import PreparedRun
from benchforge.parts.part import Loader
from benchforge.run.machine.placement import describe_placement, machine
from benchforge.run.machine.quiet import Patience, until_quiet
from benchforge.run.remaining import noise_s
from benchforge.suite.plan import START_AND_STOP_S, RunGraph
from benchforge.suite.scenarios.search import finds_of
from benchforge.suite.scenarios.turns import all_turns
from benchforge.suite.suite import Suite
from benchforge.text import safe
from benchforge.text.readable import counted, listed, percent, spoken

_NAMED = 4


def announce(prepared: PreparedRun, folder: Path, time_limit_s: float | None, there: int) -> None:
    """Say what is measured, for how long, where it is kept, and what of it is not as usual.

    `there` is the number of measurements that earlier sessions made.
    """
    suite, graph = prepared.suite, prepared.graph
    trials, cases = len(graph), len(graph.cases)
    each_s = graph.declared_s / trials + START_AND_STOP_S
    waits = len(all_turns(suite)) < len(suite.scenarios)  # in turns none does
    loud, adds_s = _noise(graph, prepared.context.quiet if waits else "off")
    finds = finds_of(suite)
    most_s = (trials - there) * each_s + adds_s
    if finds:
        counts = f"{counted(cases, 'case')}: at most {counted(trials, 'trial')}"
        planned = f"about {spoken(most_s)} for all of them"
    else:
        counts = amount(cases, graph.blocks, trials, graph.until)
        least = trials if graph.until is None else graph.least * cases
        fewest = max(0, least - there)
        planned = lasts(fewest * each_s + adds_s, most_s)
    lines = [
        safe.word(suite.title or suite.name)
        + (f" · profile {suite.profile}" if suite.profile else ""),
        f"{counts}, {planned}; seed {graph.seed}; results in {folder}",
        *(f"{label}: {find.says}" for label, find in finds.items()),
    ]
    if suite.smoke:
        lines.insert(1, "smoke run: it shows that everything works; its numbers mean nothing")
    if graph.until is not None:
        lines.append(awaited(graph.until))
    if time_limit_s is not None:
        lines.append(_limited(time_limit_s, most_s))
    if there:
        most = "" if graph.until is None else "up to "
        lines.insert(1, f"resumed: {there} of {most}{trials} measurements are done")
    if not_asked := [claim.label for claim in suite.claims if claim not in suite.claims_to_test]:
        claims = f"{counted(len(not_asked), 'claim')} ({listed(not_asked, _NAMED)})"
        lines.append(f"not tested, because their scenarios do not run: {claims}")
    lines += loud
    if not prepared.context.hosts:
        lines += describe_placement(suite, prepared.context.places, machine())
    lines += unproved(suite)
    say("\n".join(lines))


def _limited(limit_s: float, most_s: float) -> str:
    """Return the time limit, and whether all that is planned fits into it."""
    longer = ": not all planned trials fit" if most_s > limit_s else ""
    return f"time limit {spoken(limit_s)}, and some seconds for the report{longer}"


def _noise(graph: RunGraph, patience: Patience) -> tuple[list[str], float]:
    """Look once whether others use the CPUs now; return what to say of it, and what that adds."""
    if patience == "off" or (seen := until_quiet(0.0)).quiet is not False:
        return [], 0.0
    adds_s = noise_s(graph.declared_s / len(graph), patience, smoke=False)
    what = f"to wait for quiet and to repeat trials may take {spoken(adds_s)} of the time"
    return [f"other programs use {percent(seen.share or 0.0)} of the CPUs now: {what}"], adds_s


def unproved(suite: Suite) -> list[str]:
    """Return a line for each load tool that our tests never run."""
    named = {label for scenario in suite.scenarios.values() for label in scenario.loaders}
    loaders = (suite.loaders[label].part for label in named)
    names = {one.name for one in loaders if isinstance(one, Loader) and one.proved == "recordings"}
    return [f"{name}: parser proved on recordings, not run" for name in sorted(names)]
