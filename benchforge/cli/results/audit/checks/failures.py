"""Failures below a headline: rates that count them, times that leave them out."""

from collections.abc import Sequence
from typing import Final

from benchforge.cli.results.audit.facts import number, on_rate, requests, times_off, value
from benchforge.cli.results.audit.finding import Evidences, Finding, Severity, check
from benchforge.parts.reader import Row
from benchforge.text import readable

_FEW = 0.01
COUNTED = "in the number of requests"
"Estimator of failures that are among the requests, and not beside them."


@check("AE1", "unsupported")
def failed(row: Row) -> Evidences:
    """The rate counts responses that failed."""
    bad, total = number(row, "failed"), requests(row)
    if bad is None or total <= 0 or float(bad.value) < 0:
        return None
    share = bad.low / total
    if share <= _FEW:
        return []
    good_rate = max(0.0, value(row, "rate") * (1 - float(bad.value) / total))
    good = readable.exact(good_rate)
    counted = f"the headline counted {readable.exact(total - float(bad.value))} good responses"
    rate = f" of {readable.exact(value(row, 'rate'))}/s" if "rate" in row.facts else ""
    share_text = readable.percent(min(1.0, share))
    return Finding(
        f"{readable.exact(float(bad.value))} of {readable.exact(round(total))} failed",
        on_rate(row),
        true_if=f"the headline were {good}/s good responses{rate}" if rate else counted,
        title=f"{share_text} of the requests failed, and the rate counts them",
        instead=good_rate if rate else -1.0,
        factor=times_off(total, total - float(bad.value)),
    )


@check("AE4", "unsupported")
def left_out(row: Row) -> Evidences:
    """The rate leaves out responses that failed, so it is not that of all requests."""
    bad, good = number(row, "left_out"), requests(row)
    if bad is None or good <= 0 or float(bad.value) < 0:
        return None
    share = float(bad.value) / (good + float(bad.value))
    return _failing(
        share,
        "of the responses failed, and the rate leaves them out",
        f"{readable.exact(float(bad.value))} failed, {readable.exact(round(good))} count",
        f"the headline named the {readable.percent(share)} that failed",
    )


@check("AE2", "unsupported")
def lost(row: Row) -> Evidences:
    """Times leave out requests without a response in time."""
    gone = [number(row, name) for name in ("lost", "timeouts")]
    answered = requests(row)
    count = sum(float(entry.value) for entry in gone if entry is not None)
    if answered <= 0 or count < 0 or all(entry is None for entry in gone):
        return None
    within = sum(float(entry.value) for entry in gone if entry and entry.estimator == COUNTED)
    total = max(round(answered) + count - within, count)
    share = count / total
    numbers = f"{readable.exact(count)} of {readable.exact(total)}"
    rated = bool(within and value(row, "rate"))
    some = f"times were called those of {readable.percent(1 - share)} of the requests"
    return _failing(
        share,
        "of the requests got no right response in time",
        numbers + (", which the rate counts" if rated else ": their times are in no percentile"),
        some if share < 1 else "the row said that the server answered nothing",
        max(0.0, value(row, "rate") * (1 - within / total)) if rated else -1.0,
    )


def _failing(share: float, title: str, numbers: str, true_if: str, good: float = -1.0) -> Evidences:
    if share <= _FEW:
        return []
    title = f"{readable.percent(share)} {title}"
    factor = times_off(1.0, 1 - share)
    return Finding(numbers, true_if=true_if, title=title, instead=good, factor=factor)


@check("AZ1", "unsupported")
def nothing_measured(row: Row) -> Evidences:
    """A load has requests, and each takes time. It is no identity, so it never holds."""
    if "rate" not in row.facts and "loop" not in row.facts:
        return None
    for name in ("requests", "rate"):
        if (count := number(row, name)) is not None and not count.value:
            answer = "the server answered nothing"
            return Finding(f"{name} 0", "", answer, title="no request ended")
    zeros = [name for name in _NOT_ZERO if (fact := number(row, name)) and fact.high < _LEAST_S]
    if not zeros or requests(row) <= 0:
        return None
    some = any(value(row, name) >= _LEAST_S for name in _NOT_ZERO)
    unsent = "each request failed before it was sent, or times are in another unit"
    return Finding(
        f"{readable.listed(zeros)} 0 s, of {readable.exact(round(requests(row)))} requests",
        true_if="0 stands for unknown" if some else unsent,
        title=f"{'some of the' if some else 'the'} times are 0, at a rate above 0",
    )


_NOT_ZERO = ("mean", "p50", "p99", "max")
_LEAST_S = 1e-7


@check("AE3", "unsupported")
def checks_failed(row: Row) -> Evidences:
    """Checks of the script failed below the headline, or iterations were dropped."""
    parts = (
        ("checks_failed", "checks_passed", "checks of the script failed"),
        ("dropped", "iterations", "iterations were due, and did not start"),
        ("good_errors", "requests", "responses of 400 and above count as success"),
    )
    stated = [(fact, *part[1:]) for part in parts if (fact := number(row, part[0])) is not None]
    if not stated:
        return None
    findings = []
    for fact, others, words in stated:
        count = float(fact.value)
        total = value(row, others) + (0 if words.startswith("responses") else count)
        if total and count / total > _FEW:
            share = readable.percent(count / total)
            title = f"{share} of the {words}" if words.startswith("checks") else f"{words}: {share}"
            numbers = f"{readable.exact(count)} of {readable.exact(total)}"
            true_if = "the headline named them"
            findings.append(Finding(numbers, "", true_if, where=fact.origin, title=title))
    return findings


_OF_SAMPLES: Final[Sequence[tuple[str, Severity, str]]] = (
    ("late_first_byte", "impossible", "the first byte came after the last one"),
    ("late_connect", "unsupported", "connecting took longer than the first byte"),
    ("overlapping", "unsupported", "a thread had two samples at once"),
)
"Facts that count samples, each with the severity and title of its finding."
_TRUE_IF = {
    "late_first_byte": "the samples were edited, or are of transactions",
    "late_connect": "the samples were edited",
    "overlapping": "several engines wrote threads of one name",
}


@check("AS1", "unsupported")
def samples(row: Row) -> Evidences:
    """The parts of a sample are not longer than the sample."""
    if "late_first_byte" not in row.facts:
        return None
    findings = []
    for name, severity, title in _OF_SAMPLES:
        if count := value(row, name):
            where = row.facts[name].origin
            numbers = f"{readable.counted(int(count), 'sample')}, the first one at {where}"
            findings.append(Finding(numbers, "", _TRUE_IF[name], "", where, severity, title))
    return findings
