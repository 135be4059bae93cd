"""Failures below a headline: rates that count them, times that leave them out."""

from collections.abc import Sequence
from typing import Final

from benchforge.cli.results.audit.facts import number, value
from benchforge.cli.results.audit.finding import Evidence, Evidences, Severity, check
from benchforge.parts.reader import Row
from benchforge.text import readable

_FEW = 0.01
COUNTED = "in the number of requests"
"Estimator of failures that are among the requests, and not beside them."


@check("AE1", "unsupported")
def failed(row: Row) -> Evidences:
    """The rate counts responses that failed."""
    bad, requests = number(row, "failed"), value(row, "requests")
    if bad is None or requests <= 0 or float(bad.value) < 0:
        return None
    share = bad.low / requests
    if share <= _FEW:
        return []
    good = readable.exact(max(0.0, value(row, "rate") * (1 - float(bad.value) / requests)))
    counted = f"the headline counted {readable.exact(requests - float(bad.value))} good responses"
    rate = f" of {readable.exact(value(row, 'rate'))}/s" if "rate" in row.facts else ""
    share_text = readable.percent(min(1.0, share))
    return Evidence(
        f"{readable.exact(float(bad.value))} of {readable.exact(requests)} failed",
        true_if=f"the headline were {good}/s good responses{rate}" if rate else counted,
        title=f"{share_text} of the requests failed, and the rate counts them",
    )


@check("AE4", "unsupported")
def left_out(row: Row) -> Evidences:
    """The rate leaves out responses that failed, so it is not that of all requests."""
    bad, requests = number(row, "left_out"), value(row, "requests")
    if bad is None or requests <= 0 or float(bad.value) < 0:
        return None
    share = float(bad.value) / (requests + float(bad.value))
    return _failing(
        share,
        "of the responses failed, and the rate leaves them out",
        f"{readable.exact(float(bad.value))} failed, {readable.exact(requests)} count",
        f"the headline named the {readable.percent(share)} that failed",
    )


@check("AE2", "unsupported")
def lost(row: Row) -> Evidences:
    """Times leave out requests without a response in time."""
    gone = [number(row, name) for name in ("lost", "timeouts")]
    requests = value(row, "requests")
    count = sum(float(entry.value) for entry in gone if entry is not None)
    if requests <= 0 or count < 0 or all(entry is None for entry in gone):
        return None
    within = sum(float(entry.value) for entry in gone if entry and entry.estimator == COUNTED)
    total = max(requests + count - within, count)
    share = count / total
    return _failing(
        share,
        "of the requests got no right response in time",
        f"{readable.exact(count)} of {readable.exact(total)}: their times are in no percentile",
        f"times were called those of {readable.percent(1 - share)} of the requests",
    )


def _failing(share: float, title: str, numbers: str, true_if: str) -> Evidences:
    if share <= _FEW:
        return []
    return Evidence(numbers, true_if=true_if, title=f"{readable.percent(share)} {title}")


@check("AE3", "unsupported")
def checks_failed(row: Row) -> Evidences:
    """Checks of the script failed below the headline, or iterations were dropped."""
    parts = (
        ("checks_failed", "checks_passed", "checks of the script failed"),
        ("dropped", "iterations", "iterations were due, and nobody started them"),
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
            findings.append(Evidence(numbers, "", true_if, where=fact.origin, title=title))
    return findings


_PARTS_OF_SAMPLES: Final[Sequence[tuple[str, Severity, str, str]]] = (
    (
        *("late_first_byte", "impossible", "the first byte came after the last one"),
        "the samples were edited, or are of transactions",
    ),
    (
        *("late_connect", "unsupported", "connecting took longer than the first byte"),
        "the samples were edited",
    ),
    (
        *("overlapping", "unsupported", "a thread had two samples at once"),
        "several engines wrote threads of one name",
    ),
)
"Facts that count samples, each with the severity and title of its finding, and what excuses it."


@check("AS1", "unsupported")
def samples(row: Row) -> Evidences:
    """The parts of a sample are not longer than the sample."""
    if "late_first_byte" not in row.facts:
        return None
    findings = []
    for name, severity, title, true_if in _PARTS_OF_SAMPLES:
        if count := value(row, name):
            where = row.facts[name].origin
            numbers = f"{readable.counted(int(count), 'sample')}, the first one at {where}"
            findings.append(Evidence(numbers, "", true_if, "", where, severity, title))
    return findings
