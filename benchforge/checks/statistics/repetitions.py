"""Steady state, number of blocks, placebo, scatter, independence, and the bridge (S1 to S8, I8)."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from benchforge.checks.limits import Thresholds
from benchforge.checks.seen import CaseTrials, by_name, compared
from benchforge.model.summary.summary import Placebo
from benchforge.model.trial.check import Check, Scope, Status
from benchforge.model.trial.trial import Trial
from benchforge.model.trial.window import SteadyState
from benchforge.stats.inference.hodges_lehmann import log_ratios, paired
from benchforge.stats.inference.interval import LEAST, Welch, deviation, welch
from benchforge.stats.summary.line import Place
from benchforge.stats.summary.metric_ranking import outliers
from benchforge.stats.timeseries import trend
from benchforge.stats.timeseries.windows import settled
from benchforge.text.readable import exact, figure, percent, times

Rates = Mapping[Place, float]
"Responses per second, by block, and apart where others disturbed the trial."


def of_comparison(cases: Sequence[Sequence[Trial]], limits: Thresholds) -> Iterator[Check]:
    """Yield what the believed trials of each case say, by their complete responses per second."""
    if not all(cases):
        believed = sum(map(bool, cases))
        says = f"{believed} of {len(cases)} cases have a trial that is believed: nothing to compare"
        yield limits.check("S3", "apparatus", 0, says).about(scope="comparison")
        if len(cases) > 1:
            yield limits.check("S5", "apparatus", None, says).about(scope="comparison")
        yield limits.check("S6", "behaviour", None, says).about(scope="comparison")
        return
    rates = [rates_of(trials) for trials in cases]
    names = [compared(trials[0]) for trials in cases]
    pairs = list(combinations(range(len(cases)), 2)) or [(0, 0)]
    blocks = min(len(rates[a].keys() & rates[b].keys()) for a, b in pairs)
    yield _repetitions(blocks, len(cases), limits)
    if len(cases) > 1:
        yield _dispersion(rates, names, limits)
    yield from _outliers(rates, names, limits)


def of_placebo(placebo: Placebo, limits: Thresholds) -> Check:
    """Return whether the same case, measured twice, was told apart: then nothing here counts."""
    ratio = placebo.ratio
    title, server = placebo.case.title, placebo.case.server
    if ratio.low is None or ratio.high is None or placebo.noise is None:
        says = f"{server} twice: no interval of what differs by itself: {ratio.why}"
        return limits.check("S4", "apparatus", None, says).about(title, "result")
    differs = not ratio.low <= 1 <= ratio.high
    interval = f"{times(ratio.low)} to {times(ratio.high)} in {ratio.n} blocks"
    if differs:
        says = f"{server} differs from itself in {placebo.metric} (99 %: {interval}): "
        says += "something else than the servers makes the differences; find it and measure again"
    else:
        says = f"the machine shows no difference below {percent(placebo.noise)} in {placebo.metric}"
        says += f": {server}, measured twice, has a ratio to itself of {interval} (99 %)"
    status: Status = "fail" if differs else "pass"
    return limits.check("S4", "apparatus", ratio.value, says, status).about(title, "result")


def _repetitions(blocks: int, cases: int, limits: Thresholds) -> Check:
    many = cases >= limits["S3"].number("pairs_of")
    id_ = "S3.many" if many else "S3"
    verb = "block has" if blocks == 1 else "blocks have"
    says = f"{blocks} {verb} values of all sides that count"
    pairs = f" of {cases}, each pair of which is compared" if many else ""
    advice = f"{pairs}; raise repeat.blocks to {exact(limits[id_].warn)} or more"
    return limits.advised(id_, "apparatus", blocks, says, advice).about(scope="comparison")


def _dispersion(rates: Sequence[Rates], names: Sequence[str], limits: Thresholds) -> Check:
    """Return by how much the ratio of two cases scatters: of the pair where it does most."""
    scatters: list[tuple[float, str]] = []
    for a, b in combinations(range(len(rates)), 2):
        logs = ratios_of(rates[a], rates[b])
        if len(logs) < LEAST:
            says = f"{names[a]} and {names[b]}: it takes {LEAST} blocks with values of both"
            return limits.check("S5", "apparatus", None, says).about(scope="comparison")
        scatters.append((deviation(logs), f"{names[a]} / {names[b]}"))
    most, pair = max(scatters)
    says = f"{pair} scatters by {percent(most)} between blocks"
    advice = ": look for what disturbs the machine, or take more blocks"
    return limits.advised("S5", "apparatus", most, says, advice).about(pair, "comparison")


def _outliers(rates: Sequence[Rates], names: Sequence[str], limits: Thresholds) -> Iterator[Check]:
    blocks = sorted(set.intersection(*(set(rates_of_server) for rates_of_server in rates)))
    rows = {str(row): [values[block] for block in blocks] for row, values in enumerate(rates)}
    for name, (row, outlying) in zip(names, outliers(rows).items(), strict=True):
        if outlying.why:
            yield limits.check("S6", "behaviour", None, outlying.why).about(name, "comparison")
            continue
        values, share = rows[row], len(outlying.flagged) / len(blocks)
        says = f"{len(outlying.flagged)} of {len(blocks)} trials of {name} lie far from the others"
        # One far value is one stall; it takes two to be another way to run.
        bimodal = len(outlying.flagged) > 1 and limits["S6"].status(share) != "pass"
        if bimodal:
            far = (
                f"{figure(values[outlier.at])}/s in block {blocks[outlier.at][0]}"
                for outlier in outlying.flagged
            )
            says += f": bimodal, it has two ways to run; these are {', '.join(far)}"
        status: Status = "warn" if bimodal else "pass"
        yield limits.check("S6", "behaviour", share, says, status).about(name, "comparison")


def ratios_of(first: Rates, second: Rates) -> list[float]:
    """Return the log-ratio of two servers' rates in each block that has both, by block."""
    return log_ratios(*paired(first, second))


def rates_of(trials: Sequence[Trial]) -> Rates:
    """Return complete responses per second by block, of the trials that had any."""
    return {
        (trial.block, trial.disturbed): trial.reading.responses / trial.reading.seconds
        for trial in trials
        if trial.reading is not None and trial.reading.responses
    }


def independence(cases: Sequence[Sequence[Trial]], limits: Thresholds) -> Iterator[Check]:
    """Yield S8: whether the clearest pair resembles itself in the block before (Bonferroni)."""
    if len(cases) <= 1:
        return
    rates = [rates_of(trials) for trials in cases]
    names = [compared(trials[0]) if trials else "?" for trials in cases]
    clearest: tuple[float, str] | None = None
    pairs = [*combinations(range(len(cases)), 2)]
    for a, b in pairs:
        p = trend.resemblance(ratios_of(rates[a], rates[b]))
        if p is not None:
            p_of_pair = min(1.0, p * len(pairs)), f"{names[a]} / {names[b]}"
            clearest = min(clearest or p_of_pair, p_of_pair)
    if clearest is None:
        says = f"it takes {trend.LEAST} blocks with different values of two cases"
        yield limits.check("S8", "apparatus", None, says).about(scope="comparison")
        return
    p, pair = clearest
    if limits["S8"].status(p) != "pass":
        says = f"{pair} drifts from block to block (p {figure(p)}): its interval is too narrow, "
        says += "since it takes blocks as independent; measure longer loads, and find what drifts"
    else:
        says = f"no pair of {exact(len(pairs))} drifts from block to block (lowest p {figure(p)})"
    yield limits.check("S8", "apparatus", p, says).about(pair, "comparison")


_STEADY = "S1"


def steady(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield whether this one settled: a flag, since one course is noisier than that of a case."""
    yield _steady(settled([trial]), limits, "trial", "warn", trial.case.server)


def steady_cases(cases: Sequence[Sequence[Trial]], limits: Thresholds) -> Iterator[Check]:
    """Yield for each case whether its mean course settled, so that it has a level to compare."""
    felt = limits[_STEADY].number("felt")
    for number, trials in enumerate(cases, 1):
        title = trials[0].case.title if trials else f"case {number}"
        course = settled(trials)
        yield _steady(course, limits, "comparison", "fail", title)
        if course.felt > felt:
            says = f"{course.message}: rates are without that, latencies are not; lengthen "
            says += f"repeat.warmup by {exact(course.warm_up_s)} s"
            yield limits.check(_STEADY, "apparatus", course.felt, says, "warn").about(
                title, "comparison", invalidates="latency"
            )


def _steady(
    course: SteadyState, limits: Thresholds, scope: Scope, bad: Status, title: str
) -> Check:
    status: Status = "unknown"
    if course.steady is not None:
        status = "pass" if course.steady else bad
    value = course.change if course.steady is False else None
    return limits.check(_STEADY, "behaviour", value, course.message, status).about(title, scope)


_ERROR = 0.01
_USEFUL = 0.5
"Largest difference that a bridge may overlook; else it says nothing."
_OFF = 'measure them one after the other: interleave = "off" in the scenario'


def of_bridge(
    joint: CaseTrials, alone: CaseTrials, scenario: str, limits: Thresholds
) -> Iterator[Check]:
    """Yield for each pair whether its ratio of rates in turns is that of the blocks without.

    All pairs together are found to differ by chance in 1 % of comparisons.
    """
    joint_trials, theirs = by_name(joint), by_name(alone)
    pairs = [*combinations(joint_trials, 2)]
    for a, b in pairs:
        of_turns, of_blocks = (
            _log_ratios(sides.get(a, ()), sides.get(b, ())) for sides in (joint_trials, theirs)
        )
        means = welch(of_turns, of_blocks, 1 - _ERROR / len(pairs))
        yield _pair(f"{a} / {b}", means, len(of_blocks), scenario, limits)


def _pair(pair: str, means: Welch | None, blocks: int, scenario: str, limits: Thresholds) -> Check:
    if means is None:
        says = f"{pair}: {blocks} blocks one after the other are too few to compare with turns"
        return limits.check("I8", "apparatus", None, says).about(pair, "comparison")
    ratios = f"{times(math.exp(means.first))}x in turns, {times(math.exp(means.second))}x alone"
    apart, would_show = math.expm1(abs(means.difference)), math.expm1(means.half)
    says = f"{pair} is {ratios} ({blocks} blocks)"
    if would_show > _USEFUL:
        says += f": too few to compare, only {percent(would_show)} or more would show"
        return limits.check("I8", "apparatus", None, says).about(pair, "comparison")
    differ = abs(means.difference) > means.half
    status: Status = "pass" if not differ else limits["I8"].status(apart)
    if status == "pass":
        says += f": they agree, and a difference of {percent(would_show)} would show"
    else:
        says += f": {scenario} in turns is not what it is alone; {_OFF}"
    value = apart if differ else 0.0
    return limits.check("I8", "apparatus", value, says, status).about(pair, "comparison")


def _log_ratios(trials: Sequence[Trial], theirs: Sequence[Trial]) -> list[float]:
    """Return the log-ratio of the rates of each block that has both, disturbed or not."""
    rates = (rates_of(side).items() for side in (trials, theirs))
    return ratios_of(*({(block, False): rate for (block, _), rate in side} for side in rates))
