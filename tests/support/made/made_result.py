"""A header and trials made by hand: what each server gave in each block, and who is believed."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from benchforge_metrics.throughput import Throughput
from pydantic import JsonValue

from benchforge.model.files.result import Header, MetricUse, Planned
from benchforge.model.suite.until import Until
from benchforge.model.summary.summary import Summary
from benchforge.model.trial.answer import Request
from benchforge.model.trial.check import Check
from benchforge.model.trial.reading import Reading
from benchforge.model.trial.trial import Failure, Load, Trial
from benchforge.model.values.case_name import CaseName
from benchforge.stats.summary.summarize import summarize

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
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
    named = {path.replace("__", "."): value for path, value in vary.items()}
    digest = f"{server}{named}"
    return CaseName(scenario="hello", server=server, driver="few", vary=named, digest=digest)


def header(
    cases: Sequence[CaseName], blocks: int, until: Until | None = None, smoke: bool = False
) -> Header:
    return Header(
        name="hello",
        title="",
        created=NOON,
        benchforge="0.1.0",
        profile=None,
        smoke=smoke,
        settings={},
        only=(),
        suite="",
        suite_sha256="",
        seed=7,
        cases=tuple(cases),
        plan=tuple(
            Planned(block=block, position=position, case=one, seed=1, declared_s=1)
            for block in range(1, blocks + 1)
            for position, one in enumerate(cases, 1)
        ),
        until=until,
        metrics=(
            MetricUse(
                label="throughput",
                use="throughput",
                options={},
                unit="requests/s",
                better="higher",
            ),
        ),
        versions={},
        facts={},
    )


def trial(
    number: int,
    block: int,
    position: int,
    of: CaseName,
    value: float | None,
    *,
    at_once: int | None = 2,
    checks: Sequence[Check] = (),
    attempt: int = 1,
    failed: bool = False,
) -> Trial:
    responses = round((100.0 if value is None else value) * _SECONDS)
    return Trial(
        number=number,
        case=of,
        block=block,
        position=position,
        attempt=attempt,
        seed=1,
        started=NOON,
        seconds=_SECONDS,
        phases={},
        request=Request(),
        processes=(),
        answers=(),
        namespaces={},
        load=Load(connections=at_once, concurrency=at_once),
        reading=None
        if failed
        else Reading(
            seconds=_SECONDS,
            responses=responses,
            good_at_least=responses,
            good_at_most=responses,
            errors={},
        ),
        observation=None,
        checks=(NOISE, *checks) if value is None else tuple(checks),
        failure=Failure(stage="start", message="it died") if failed else None,
    )


def trials(
    values: Sequence[tuple[CaseName, Sequence[float | None]]], at_once: Sequence[int | None] = ()
) -> list[Trial]:
    """Return the trials of cases with one value a block, block after block."""
    blocks = max((len(of) for _, of in values), default=0)
    levels = at_once or [2] * len(values)
    places = [
        (block, position, one, of[block - 1], level)
        for block in range(1, blocks + 1)
        for position, ((one, of), level) in enumerate(zip(values, levels, strict=True), 1)
        if block <= len(of)
    ]
    return [
        trial(number, block, position, one, value, at_once=level)
        for number, (block, position, one, value, level) in enumerate(places, 1)
    ]


def summed(values: Values, *, smoke: bool = False, until: Until | None = None) -> Summary:
    """Return the summary of servers that are compared."""
    cases = [case(server) for server in values]
    blocks = max(map(len, values.values()))
    made = header(cases, until.most if until else blocks, until, smoke)
    return summarize(made, trials(list(zip(cases, values.values(), strict=True))), METRICS)
