"""What to measure next, where a result leaves a question open."""

import shlex
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence

from benchforge.plugin import Summary, Trial, readable
from benchforge_reporters.document.answers import ComparisonAnswer
from benchforge_reporters.document.claims import ClaimLine

_LEAST = 8  # blocks: some of them then have noise that met the servers alike
_BRIDGE = "-alone"  # the label's end, after that of the scenario in turns
_MOST = 2  # scenarios in a command: those that need the least time
_HALF = 4  # times as many blocks make an interval half as wide


def next_step(
    answers: Sequence[ComparisonAnswer],
    claims: Sequence[ClaimLine],
    summary: Summary,
    trials: Sequence[Trial],
) -> str:
    """Return what to do where noise met all trials, and the command that decides what is open.

    Empty if there is nothing to do.
    """
    blocks = blocks_by_scenario(summary)
    noisy = _noisy(trials, max(blocks.values(), default=0)) if answers else ""
    unclear = [line for line in claims if line.state == "inconclusive"]
    goal, wanted = "To decide", dict(_decisive(unclear, blocks))
    if not wanted:
        goal, wanted = "To make the intervals half as wide", {}
        for scenario in dict.fromkeys([*_scenarios(unclear), *_undecided(answers)]):
            if scenario in blocks:
                wanted[scenario] = _HALF * blocks[scenario]
    if not wanted:
        return noisy
    lasts = {
        scenario: more
        / blocks[scenario]
        * busy_s([t for t in trials if t.case.scenario == scenario])
        for scenario, more in wanted.items()
    }
    if len({*wanted.values()}) > 1 or len(wanted) < len(blocks):
        quickest = sorted(wanted, key=lambda scenario: lasts[scenario])[:_MOST]
        wanted = {scenario: wanted[scenario] for scenario in wanted if scenario in quickest}
    command = again(summary, *settings_of_blocks(wanted, blocks, summary))
    seconds = sum(lasts[scenario] for scenario in wanted)
    return f"{noisy} {goal}: {command}, about {readable.spoken(seconds)}".strip()


def again(summary: Summary, *words: str) -> str:
    """Return the command with the run's profile, and `words` after it.

    The suite is called SUITE: at the end of a run, benchforge writes the file there.
    """
    profile = [f"--profile {shlex.quote(summary.profile)}"] if summary.profile else []
    return " ".join(["benchforge run SUITE", *profile, *words])


def blocks_by_scenario(summary: Summary) -> dict[str, int]:
    """Return how many blocks each scenario of the suite has: bridges are made for `bridge`."""
    in_turns = {case.case.scenario for case in summary.cases if case.in_turns}
    seen: dict[str, set[int]] = {}
    for case in summary.cases:
        of = seen.setdefault(case.case.scenario, set())
        of.update(item.block for line in case.metrics for item in line.samples)
    return {
        scenario: len(of)
        for scenario, of in seen.items()
        if of and scenario.removesuffix(_BRIDGE) not in in_turns - {scenario}
    }


def _decisive(unclear: Sequence[ClaimLine], blocks: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """Yield each scenario of a claim that more blocks decide, and how many that takes."""
    needed: dict[str, int] = {}
    for line in unclear:
        enough = line.verdict.blocks_needed or 0
        for scenario in _scenarios([line]):
            had = blocks.get(scenario, 0)
            if had < enough <= readable.IN_REACH * had:
                needed[scenario] = max(enough, needed.get(scenario, 0))
    yield from needed.items()


def _scenarios(lines: Sequence[ClaimLine]) -> Iterator[str]:
    for line in lines:
        yield from (case.scenario for case in line.claim.cases)


def _undecided(answers: Sequence[ComparisonAnswer]) -> Iterator[str]:
    yield from (answer.scenario for answer in answers if answer.undecided)


def settings_of_blocks(
    wanted: Mapping[str, int], blocks: Mapping[str, int], summary: Summary
) -> Iterator[str]:
    """Yield the settings: those of scenarios, since a scenario may have its own blocks.

    `until` and a search have none of their own.
    """
    numbers = {*wanted.values()}
    searched = any(scenario in summary.searches for scenario in wanted)
    all_alike = len(wanted) == len(blocks) > 1 and len(numbers) == 1
    if summary.stop_decision is not None or searched or all_alike:
        yield f"--set repeat.blocks={max(numbers)}"
        return
    for scenario, number in wanted.items():
        yield f"--set scenarios.{scenario}.blocks={number}"
    if len(wanted) < len(blocks) or len(blocks) == 1:
        yield from (f"--only {scenario}" for scenario in wanted)


def _noisy(trials: Sequence[Trial], blocks: int) -> str:
    """Return what to do where no trial is free of noise; empty if one is."""
    measured = [trial for trial in trials if trial.measured]
    if any(trial.believed for trial in measured) or not any(t.disturbed for t in measured):
        return ""
    what = (
        "Noise met every trial: stop other programs, or take a quieter machine, and run the suite "
        "again."
    )
    if any(trial.search_outcome is not None for trial in measured):
        return what
    return (
        f"{what} Where that cannot be, run it with --set repeat.blocks={max(_LEAST, 2 * blocks)}: "
        "where noise meets the servers of a block alike, their ratio counts."
    )


def seconds_of(trials: Sequence[Trial], summary: Summary) -> float:
    """Return how long a run took, in seconds: each session from its first trial to its last.

    The time between two sessions does not count.
    """
    firsts = [item.first_trial for item in summary.sessions]
    spans: dict[int, list[tuple[float, float]]] = {}
    for trial in trials:
        spans.setdefault(bisect(firsts, trial.number), []).append(_span(trial))
    return sum(max(e for _, e in of) - min(b for b, _ in of) for of in spans.values())


def busy_s(trials: Sequence[Trial]) -> float:
    """Return for how many seconds at least one of these trials was measured."""
    seconds, until = 0.0, 0.0
    for begin, end in sorted(map(_span, trials)):
        seconds += max(0.0, end - max(begin, until))
        until = max(until, end)
    return seconds


def _span(trial: Trial) -> tuple[float, float]:
    begin = trial.started.timestamp()
    return begin, begin + trial.seconds
