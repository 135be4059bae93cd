"""Failures below a headline: rates that count them, times that leave them out."""

from collections.abc import Sequence

from benchforge.cli.results.audit.facts import number, value
from benchforge.cli.results.audit.finding import Finding
from benchforge.parts.reader import Row
from benchforge.text import readable

_FEW = 0.01
COUNTED = "in the number of requests"
"Estimator of failures that are among the requests, and not beside them."


def failed(row: Row) -> Sequence[Finding] | None:
    """AE1: the rate counts responses that failed."""
    bad, requests = number(row, "failed"), value(row, "requests")
    if bad is None or requests <= 0 or float(bad.value) < 0:
        return None
    share = bad.low / requests
    if share <= _FEW:
        return []
    good = readable.exact(max(0.0, value(row, "rate") * (1 - float(bad.value) / requests)))
    counted = f"the headline counted {readable.exact(requests - float(bad.value))} good responses"
    rate = f" of {readable.exact(value(row, 'rate'))}/s" if "rate" in row.facts else ""
    return [
        Finding(
            "AE1",
            "unsupported",
            f"{readable.percent(min(1.0, share))} of the requests failed, and the rate counts them",
            f"{readable.exact(float(bad.value))} of {readable.exact(requests)} failed",
            true_if=f"the headline were {good}/s good responses{rate}" if rate else counted,
        )
    ]


def left_out(row: Row) -> Sequence[Finding] | None:
    """AE4: the rate leaves out responses that failed, so it is not that of all requests."""
    bad, requests = number(row, "left_out"), value(row, "requests")
    if bad is None or requests <= 0 or float(bad.value) < 0:
        return None
    share = float(bad.value) / (requests + float(bad.value))
    return _failing(
        "AE4",
        share,
        "of the responses failed, and the rate leaves them out",
        f"{readable.exact(float(bad.value))} failed, {readable.exact(requests)} count",
        f"the headline named the {readable.percent(share)} that failed",
    )


def lost(row: Row) -> Sequence[Finding] | None:
    """AE2: times leave out requests without a response in time."""
    gone = [number(row, name) for name in ("lost", "timeouts")]
    requests = value(row, "requests")
    count = sum(float(entry.value) for entry in gone if entry is not None)
    if requests <= 0 or count < 0 or all(entry is None for entry in gone):
        return None
    within = sum(float(entry.value) for entry in gone if entry and entry.estimator == COUNTED)
    total = max(requests + count - within, count)
    share = count / total
    return _failing(
        "AE2",
        share,
        "of the requests got no right response in time",
        f"{readable.exact(count)} of {readable.exact(total)}: their times are in no percentile",
        f"times were called those of {readable.percent(1 - share)} of the requests",
    )


def _failing(code: str, share: float, title: str, numbers: str, true_if: str) -> list[Finding]:
    if share <= _FEW:
        return []
    headline = f"{readable.percent(share)} {title}"
    return [Finding(code, "unsupported", headline, numbers, true_if=true_if)]


def checks_failed(row: Row) -> Sequence[Finding] | None:
    """AE3: checks of the script failed below the headline, or iterations were dropped."""
    parts = (
        ("checks_failed", "checks_passed", "checks of the script failed"),
        ("dropped", "iterations", "iterations were due, and nobody started them"),
        ("good_errors", "requests", "responses of 400 and above count as success"),
    )
    stated = [
        (number(row, name), value(row, beside), words)
        for name, beside, words in parts
        if number(row, name) is not None
    ]
    if not stated:
        return None
    findings = []
    for count, others, words in stated:
        total = (
            others if words.startswith("responses") else others + float(count.value if count else 0)
        )
        if count is None or not total or float(count.value) / total <= _FEW:
            continue
        share = readable.percent(float(count.value) / total)
        findings.append(
            Finding(
                "AE3",
                "unsupported",
                f"{share} of the {words}" if words.startswith("checks") else f"{words}: {share}",
                f"{readable.exact(float(count.value))} of {readable.exact(total)}",
                true_if="the headline named them",
                where=count.origin,
            )
        )
    return findings


def samples(row: Row) -> Sequence[Finding] | None:
    """AS1: the parts of a sample are not longer than the sample."""
    if "late_first_byte" not in row.facts:
        return None
    findings = []
    for name, severity, title, true_if in (
        (
            "late_first_byte",
            "impossible",
            "the first byte came after the last one",
            "the samples were edited, or are of transactions",
        ),
        (
            "late_connect",
            "unsupported",
            "connecting took longer than the first byte",
            "the samples were edited",
        ),
        (
            "overlapping",
            "unsupported",
            "a thread had two samples at once",
            "several engines wrote threads of one name",
        ),
    ):
        count = value(row, name)
        if count:
            where = row.facts[name].origin
            numbers = f"{readable.counted(int(count), 'sample')}, the first one at {where}"
            finding = Finding("AS1", severity, title, numbers, "", true_if, where=where)  # type: ignore[arg-type]
            findings.append(finding)
    return findings
