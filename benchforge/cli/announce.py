"""What a run says before it measures."""

from benchforge.cli.amount import amount, awaited, lasts
from benchforge.cli.progress import plain, spoken
from benchforge.cli.say import counted, say
from benchforge.graph import START_AND_STOP_S, RunGraph
from benchforge.parts.part import Loader
from benchforge.run.execute import Limits
from benchforge.run.ground import Ground
from benchforge.run.keep import Keep
from benchforge.run.placement import machine, told
from benchforge.suite.find import finds_of
from benchforge.suite.suite import Suite

_NAMED = 4


def announce(
    suite: Suite, graph: RunGraph, stands_on: Ground, keep: Keep, limits: Limits, there: int = 0
) -> None:
    """Say what is measured, for how long, where it is kept, and what of it is not as usual."""
    trials, cases = len(graph), len(graph.cases)
    each_s = graph.declared_s / trials + START_AND_STOP_S
    finds = finds_of(suite)
    if finds:
        counts = f"{counted(cases, 'case')}: at most {counted(trials, 'trial')}"
        planned = f"at most {spoken((trials - there) * each_s)}"
    else:
        counts = amount(cases, graph.blocks, graph.until)
        fewest = max(0, graph.least * cases - there)
        planned = lasts(fewest * each_s, (trials - there) * each_s)
    lines = [
        plain(suite.title or suite.name) + (f" · profile {suite.profile}" if suite.profile else ""),
        f"{counts}, {planned}; seed {graph.seed}; results in {keep.folder}",
        *(f"{label}: {find.says}" for label, find in finds.items()),
    ]
    if suite.smoke:
        lines.insert(1, "a smoke: it shows that everything works; its numbers mean nothing")
    if graph.until is not None:
        lines.append(awaited(graph.until))
    if limits.time_limit_s is not None:
        lines.append(f"time limit {_limit(limits.time_limit_s)}")
    if there:
        most = "" if graph.until is None else "up to "
        lines.insert(1, f"resumed: {there} of {most}{trials} measurements are there")
    if not_asked := [claim.label for claim in suite.claims if claim not in suite.asked]:
        named = ", ".join(not_asked[:_NAMED]) + (", ..." if len(not_asked) > _NAMED else "")
        claims = counted(len(not_asked), "claim")
        lines.append(f"not asked, since their scenarios are not run: {claims} ({named})")
    lines += told(suite, stands_on.places, machine())
    lines += unproved(suite)
    say("\n".join(lines))


def unproved(suite: Suite) -> list[str]:
    """Return a line for each load tool that our tests never run."""
    named = {label for scenario in suite.scenarios.values() for label in scenario.loaders}
    loaders = (suite.loaders[label].part for label in named)
    names = {one.name for one in loaders if isinstance(one, Loader) and one.proved == "recordings"}
    return [f"{name}: parser proved on recordings, not run" for name in sorted(names)]


def _limit(seconds: float) -> str:
    return spoken(seconds) if seconds >= 1 else f"{seconds:g} s"
