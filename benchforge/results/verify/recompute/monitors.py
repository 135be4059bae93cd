"""Answers under load again: what monitors and windows prove, from the record of each of them."""

from collections.abc import Callable, Iterator
from functools import partial

from benchforge.model.trial.answers.monitor import Monitor, MonitorAnswer
from benchforge.model.values.frozen import Frozen
from benchforge.results.recomputed.verified import RecomputedValue, plain
from benchforge.results.verify.recompute.recomputed import KeptTrial, Result
from benchforge.run.http import monitor as monitoring
from benchforge.run.http.monitor import Record, SeenAnswer
from benchforge.run.http.wire import record as wire
from benchforge.text import door


def monitors(result: Result) -> Iterator[RecomputedValue]:
    """The numbers of each monitor, given which kinds of its answers were right; and of windows."""
    for stored in result.measured:
        monitor, read = stored.trial.monitor, stored.trial.load_answers
        if monitor is not None and not monitor.why:
            yield _again(stored, "monitor", monitoring.RECORD, partial(_monitor, monitor))
        if read is not None and not read.why:
            yield _again(stored, "load_answers", wire.RECORD, _windows)


def _again(
    stored: KeptTrial, name: str, record: str, tallied: Callable[[bytes], Frozen]
) -> RecomputedValue:
    """Return the numbers of a record, or why it has none."""
    try:
        content = door.read(stored.file.file.parent, record, wire.MOST_RECORD)
        return stored.again(name, value=plain(tallied(content)))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return stored.again(name, cannot=f"{record}: {reason}")


def _windows(content: bytes) -> Frozen:
    return wire.tallied(wire.record_of(content))


def _monitor(monitor: Monitor, content: bytes) -> Frozen:
    record = monitoring.record_of(content)
    again = monitoring.tallied(record, list(_kinds(record, monitor)))
    return again.model_copy(update={"head": monitor.head, "version": monitor.version})


def _kinds(record: Record, monitor: Monitor) -> Iterator[MonitorAnswer]:
    """Yield what was kept of each kind. Raises ValueError where only the first ones were."""
    by_kind = {_key(answer): answer for answer in monitor.answers}
    for kind in record.kinds:
        answer = by_kind.get(_key(kind))
        if answer is None:
            raise ValueError("which of its kinds of answers were right was not kept of all")
        yield answer


def _key(answer: SeenAnswer | MonitorAnswer) -> tuple[object, ...]:
    wrong = answer.wrong if answer.kind else ""
    same = answer.status, answer.content_type, answer.length, answer.sha256
    return answer.kind, wrong, *same
