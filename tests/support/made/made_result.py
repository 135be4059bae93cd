"""A header and trials made by hand: what each server gave in each block, and who is believed."""

from collections.abc import Mapping, Sequence
from itertools import count

from benchforge_metrics.throughput import Throughput
from made import plain
from pydantic import JsonValue

from benchforge.model.files.result import Header, MetricUse
from benchforge.model.suite.until import Until
from benchforge.model.summary.summary import Summary
from benchforge.model.trial.check import Check
from benchforge.model.trial.reading import Load
from benchforge.model.trial.trial import Failure, Trial
from benchforge.model.values.case_name import CaseName
from benchforge.stats.summary.summarize import summarize

METRICS = {"throughput": Throughput()}
_SECONDS = 1000.0  # so long that a value is exact to six digits
NOISE = Check(
    id="N1",
    name="foreign-cpu",
    scope="trial",
    subject="apparatus",
    status="fail",
    message="others used the CPUs",
    topic="others",
)
Values = Mapping[str, Sequence[float | None]]
"By server: of each block the value; None where it is not believed."


def case(server: str, **vary: JsonValue) -> CaseName:
    axes = {path.replace("__", "."): value for path, value in vary.items()}
    return plain.named(server, driver="few", vary=axes, digest=f"{server}{axes}")


def header(
    cases: Sequence[CaseName], blocks: int, until: Until | None = None, smoke: bool = False
) -> Header:
    use = MetricUse(
        label="throughput", use="throughput", options={}, unit="requests/s", better="higher"
    )
    return plain.header(*cases, blocks=blocks, until=until, smoke=smoke, metrics=(use,))


def trial(
    number: int,
    block: int,
    position: int,
    case_name: CaseName,
    value: float | None,
    *,
    at_once: int | None = 2,
    checks: Sequence[Check] = (),
    attempt: int = 1,
    failed: bool = False,
) -> Trial:
    responses = round((100.0 if value is None else value) * _SECONDS)
    return plain.trial(
        number=number,
        case=case_name,
        block=block,
        position=position,
        attempt=attempt,
        seconds=_SECONDS,
        load=Load(connections=at_once, concurrency=at_once),
        reading=None if failed else plain.reading(responses, seconds=_SECONDS),
        checks=(NOISE, *checks) if value is None else tuple(checks),
        failure=Failure(stage="start", message="it died") if failed else None,
    )


def trials(
    values: Sequence[tuple[CaseName, Sequence[float | None]]], at_once: Sequence[int | None] = ()
) -> list[Trial]:
    """Return the trials of cases with one value a block, block after block."""
    levels = at_once or [2] * len(values)
    numbers = count(1)
    return [
        trial(next(numbers), block, position, item, subject[block - 1], at_once=level)
        for block in range(1, max((len(value) for _, value in values), default=0) + 1)
        for position, ((item, subject), level) in enumerate(zip(values, levels, strict=True), 1)
        if block <= len(subject)
    ]


def summed(values: Values, *, smoke: bool = False, until: Until | None = None) -> Summary:
    """Return the summary of servers that are compared."""
    cases = [case(server) for server in values]
    blocks = max(map(len, values.values()))
    made = header(cases, until.most if until else blocks, until, smoke)
    return summarize(made, trials(list(zip(cases, values.values(), strict=True))), METRICS)
