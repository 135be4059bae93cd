"""Monitors again: what their answers prove, from the record of each moment."""

from collections.abc import Iterator

from benchforge.model.trial.answers.monitor import Monitor, MonitorAnswer
from benchforge.results.recomputed.verified import RecomputedValue, plain
from benchforge.results.verify.recompute.recomputed import Result
from benchforge.run.http.monitor import (
    MOST_RECORD,
    RECORD,
    Record,
    SeenAnswer,
    record_of,
    tallied,
)
from benchforge.text import door


def monitors(result: Result) -> Iterator[RecomputedValue]:
    """The numbers of each monitor, given which kinds of its answers were right."""
    for kept in result.measured:
        monitor = kept.trial.monitor
        if monitor is None or monitor.why:
            continue
        try:
            record = record_of(door.read(kept.file.file.parent, RECORD, MOST_RECORD))
            again = tallied(record, list(_kinds(record, monitor)))
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            yield kept.again("monitor", cannot=f"{RECORD}: {why}")
            continue
        again = again.model_copy(update={"head": monitor.head})
        yield kept.again("monitor", value=plain(again))


def _kinds(record: Record, monitor: Monitor) -> Iterator[MonitorAnswer]:
    """Yield what was kept of each kind. Raises ValueError where only the first ones were."""
    by_kind = {_key(one): one for one in monitor.answers}
    for kind in record.kinds:
        answer = by_kind.get(_key(kind))
        if answer is None:
            raise ValueError("which of its kinds of answers were right was not kept of all")
        yield answer


def _key(answer: SeenAnswer | MonitorAnswer) -> tuple[object, ...]:
    wrong = answer.wrong if answer.kind else ""
    same = answer.status, answer.content_type, answer.length, answer.sha256
    return answer.kind, wrong, *same
