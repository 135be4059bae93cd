"""The header again: the plan from its seed; metrics, claims and tables from the suite's text."""

from collections import Counter
from collections.abc import Iterator

from benchforge.errors import BenchforgeError
from benchforge.model.files.file import FileFault
from benchforge.model.suite.until import Until
from benchforge.model.trial.trial import Trial
from benchforge.results.recomputed.verified import Recomputed, Values, plain
from benchforge.results.verify.recompute.recomputed import Result
from benchforge.stats.inference.stopping import recorded
from benchforge.stats.summary.completeness import lost, needs_no_more, whole
from benchforge.stats.summary.precision import precise
from benchforge.stats.timeseries.noise import Noise
from benchforge.suite.claims.of_kept_suite import asks as of_suite
from benchforge.suite.claims.of_kept_suite import uses
from benchforge.suite.plan import steps
from benchforge.suite.toml.faults import SuiteErrors

_EARLIER_BETWEEN = (8, 30)
"Blocks by default in results that do not record the rule of their intervals."


def order(result: Result) -> Values:
    """The plan's order and its seeds, from the seed of the header."""
    header = result.header.model
    sizes = Counter(case.scenario for case in header.cases)
    measured = Counter(planned.case.scenario for planned in header.plan)
    ordinary = max(
        (planned.block for planned in header.plan if planned.case.scenario not in header.searches),
        default=0,
    )
    blocks: list[int] = []
    fewer = {*header.bridges, *header.latencies}
    for scenario, size in sizes.items():
        find = header.searches.get(scenario)
        count = ordinary if scenario not in fewer else measured[scenario] // size
        blocks.append(count if find is None else find.rounds)
        if (total := measured[scenario]) != blocks[-1] * size:
            message = f"{total} of {scenario} are not {blocks[-1]} blocks of {size} cases"
            yield result.header.fault(message, "plan")
            return
    for number, step in enumerate(steps(list(sizes.values()), blocks, header.seed)):
        planned_step = {"block": step.block, "position": step.position, "seed": step.seed}
        for name, value in planned_step.items():
            yield result.again("plan", number, name, value=value)
        yield Recomputed(result.header, ("plan", number, "case"), plain(header.cases[step.number]))


def places(result: Result) -> Values:
    """What each trial measured, and its seed, from the plan."""
    plan = {(step.block, step.position): step for step in result.header.model.plan}
    for trial in result.trials:
        planned = plan.get((trial.model.block, trial.model.position))
        if planned is None:
            yield trial.fault("the plan has no such place", "position")
        else:
            yield Recomputed(trial, ("case",), plain(planned.case))
            yield Recomputed(trial, ("seed",), planned.seed)


def looks(result: Result) -> Values:
    """What ends the run, from the suite; and whether each look before its end said to go on."""
    header, trials = result.header.model, [trial.model for trial in result.trials]
    claims, repeat = sum(len(claim.instances) for claim in header.claims), result.suite.repeat
    until = recorded(repeat.amount(decides=bool(claims)), claims)
    if until is not None and header.until is not None and header.until.method is None:
        least, most = repeat.between or _EARLIER_BETWEEN
        until = Until(width=until.width, least=least, most=most)
    yield result.again("until", value=None if until is None else plain(until))
    if header.until is None:
        return
    for blocks in range(header.until.least, whole(header, trials)):
        trials_until = [trial for trial in trials if trial.block <= blocks]
        later = [trial for trial in result.trials if trial.model.block > blocks]
        if min(trial.model.number for trial in later) < max(trial.number for trial in trials_until):
            continue  # some were measured again: what was looked at is not there any more
        try:
            decision = precise(header, trials_until, result.suite.metrics)
        except Exception as error:  # noqa: BLE001 - a plugin's code, on numbers of any kind
            yield result.again("until", cannot=f"{type(error).__name__}: {error}")
            return
        if decision is not None and decision.stop:
            yield later[0].fault(f"{decision.in_words}; but it went on", "block")


def attempts(result: Result) -> Iterator[FileFault]:
    """Whether each attempt after the first at a place was needed: noise may not end."""
    places: dict[tuple[int, int], list[Trial]] = {}
    noise, last_number = Noise(), 0
    for trial in result.trials:
        position = trial.model.block, trial.model.position
        others = places.setdefault(position, [])
        ended = (
            others
            and others[-1].number == last_number
            and needs_no_more(others, noise, result.header.model.latencies)
        )
        if ended and not lost(result.header.model, others):
            yield trial.fault(f"trial {others[-1].number} needed no other attempt", "attempt")
        others.append(trial.model)
        noise, last_number = noise.after(trial.model), trial.model.number


def metrics(result: Result) -> Iterator[Recomputed]:
    """The metrics of the header, from the suite's text."""
    yield result.again("metrics", value=[plain(use) for use in uses(result.suite.metrics)])


def questions(result: Result) -> Iterator[Recomputed]:
    """What is claimed and shown of the cases, from the suite's text."""
    suite = result.suite
    try:
        asks = of_suite(suite.document, suite.metrics, result.header.model.cases)
    except SuiteErrors as error:
        yield result.again("claims", cannot=error.message.splitlines()[0])
        return
    yield result.again("smoke", value=suite.document.tables.get("smoke") is True)
    yield result.again("title", value=str(suite.document.tables.get("title", "")))
    yield result.again("titles", value=dict(asks.titles))
    yield result.again("scenario_metrics", value={k: list(each) for k, each in asks.takes.items()})
    yield result.again("tables", value={key: plain(table) for key, table in asks.tables.items()})
    yield result.again("claims", value=[plain(claim) for claim in asks.claims])
    yield result.again("verdict_rules", value=plain(suite.verdict_rules))


def finds(result: Result) -> Iterator[Recomputed]:
    """What scenarios look for, from the suite's text."""
    header = result.header.model
    for label in dict.fromkeys(case.scenario for case in header.cases):
        try:
            find = result.suite.find(label)
        except (BenchforgeError, ValueError) as error:
            yield result.again("searches", cannot=f"scenarios.{label}.find: {error}")
            continue
        if find is not None or label in header.searches:
            yield result.again("searches", label, value=None if find is None else plain(find))
