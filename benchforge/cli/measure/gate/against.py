"""Gates against older results of the same machine, which predict a new one."""

import math
from collections.abc import Sequence
from pathlib import Path

from benchforge.cli.console.named_file import loaded
from benchforge.cli.measure.gate.beside import GateRequest, measured
from benchforge.cli.measure.gate.outcome import GatedPair, Outcome
from benchforge.cli.measure.gate.verdict import SpeedVerdict, decided, level, waiver_of
from benchforge.errors import Unusable
from benchforge.model.summary.summary import CaseSummary
from benchforge.model.summary.verdict import Estimate
from benchforge.model.values.units import titled
from benchforge.parts.registry import Registry
from benchforge.results.conclude import results_in
from benchforge.results.over_time.compared import MetricChange, compared
from benchforge.results.over_time.older_results import older
from benchforge.stats.distributions import t_quantile
from benchforge.stats.verdict.comparison import wrong_answers
from benchforge.suite.suite import Suite
from benchforge.text.readable import counted


def against_results(
    request: GateRequest, named: Sequence[Path], reference: str, registry: Registry
) -> tuple[Outcome, int]:
    """Measure the suite, and compare its ratios to a reference with those of older results."""
    options = request.options
    suite = loaded(options.suite, registry, options.profile, only=options.only)
    if reference not in suite.servers:
        servers = ", ".join(suite.servers)
        raise Unusable(f"--reference {reference}: no such server", f"available servers: {servers}")
    again = f"benchforge run {options.suite} -o FOLDER"
    for path in named:
        if not [*results_in(path)]:
            hint = f"measure the main branch five times or more: {again}"
            raise Unusable(f"--against {path}: no result in it", hint)
    new, ended = measured(request, registry, request.most_s)
    try:
        older_results = older(new, named, registry, reference, anyway=False, earlier=True)
    except Unusable as error:
        hint = f"compare with results of this machine and suite: {again}"
        raise Unusable(error.message, hint) from error
    past = [result.summary for result in older_results.results]
    rows = [
        (row, case)
        for row in compared(new.summary, past, reference, 0)
        for case in new.summary.cases
        if row.case == case.case and not row.is_reference
        if (row.measure.metric, row.measure.of) == (case.metrics[0].metric, case.metrics[0].of)
    ]
    questions = tuple(_question(*row, suite, request.limit, len(rows)) for row in rows)
    return Outcome(
        base=f"{counted(len(past), 'older result')}, relative to {reference}",
        head=str(new.path),
        limit=request.limit,
        level=level(len(rows)),
        questions=questions,
        notes=tuple(f"left out: {reason}" for reason in older_results.left_out),
        result=str(new.path),
    ), ended


def verdict_of(change: Estimate, *, better: str, limit: float, questions: int) -> SpeedVerdict:
    """Return the verdict on a prediction: its interval at the level of a gate."""
    if change.value is None or change.low is None or change.high is None or change.df is None:
        return SpeedVerdict("undecided", change.value, blocks=change.n, why=change.why)
    wider = t_quantile((1 + level(questions)) / 2, change.df)
    narrower = t_quantile((1 + change.level) / 2, change.df)
    half = math.log(change.high / change.value) * wider / narrower
    value = change.value if better == "higher" else 1 / change.value
    low, high = value * math.exp(-half), value * math.exp(half)
    state = decided(low, high, limit)
    return SpeedVerdict(state, value, low, high, change.n, counts="older result")


def _question(
    row: MetricChange, case: CaseSummary, suite: Suite, limit: float, questions: int
) -> GatedPair:
    verdict = verdict_of(
        row.change.change, better=case.metrics[0].better, limit=limit, questions=questions
    )
    if row.answer == "not believed":
        verdict = SpeedVerdict("invalid", why=row.new.why)
    if wrong := next(wrong_answers(case), ""):
        verdict = SpeedVerdict("broken", why=wrong)
    waiver, expired = waiver_of(suite.gate.allow, row.case.scenario, row.case.server)
    metric = titled(row.measure.metric, row.measure.of)
    return GatedPair(row.case.scenario, row.case, metric, verdict, case.in_turns, waiver, expired)
