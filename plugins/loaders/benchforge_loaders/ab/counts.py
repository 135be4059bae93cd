"""What ab's counts mean: they overlap, and say less than they seem to. Source: ab.c of 2.4."""

from benchforge_loaders.ab.report import AbReport


def errors(report: AbReport) -> dict[str, int]:
    """Return ab's classes of errors, and `empty` when no request was answered with a byte."""
    classes = {
        "status": report.non_2xx,
        "length": report.length,
        "connect": report.connect,
        "receive": report.receive,
        "exceptions": report.exceptions,
        "write": report.write,
    }
    return classes if report.transferred else {**classes, "empty": report.complete}


def good_bounds(report: AbReport) -> tuple[int, int]:
    """Return how many responses were good, at least and at most.

    A response of another length may well be good. The header of a request that is in flight at the
    end is counted by status, and the request is not: hence never below zero.
    """
    if not report.transferred:
        return 0, 0
    doubtful = report.length + report.receive + report.exceptions + report.write
    surely_bad = max(report.non_2xx, report.receive, report.write)
    lowest = max(0, report.complete - report.non_2xx - doubtful)
    return lowest, max(0, report.complete - surely_bad)


def doubt(report: AbReport) -> str:
    """Return why only bounds are known."""
    if report.length:
        return (
            "ab calls a body of another length than the first one's an error; "
            "with variable_length = true it does not"
        )
    return "ab's classes of errors overlap"


def unanswered(report: AbReport) -> int | None:
    """Return how many requests got no response; None where they are among the complete ones."""
    if report.receive:
        return None
    lost = report.connect + report.exceptions
    return lost if report.transferred else lost + report.complete


def connections(report: AbReport, *, by_time: bool) -> int | None:
    """Return how many connections ab opened, where that is certain.

    Each complete request that was not kept alive ended a connection, which ab replaced. Near the
    end of a number of requests it stops replacing them, one sooner, one later. Until a first header
    has come, ab uses one connection only.
    """
    if not report.transferred or report.connect or report.exceptions or report.receive:
        return None
    ended = report.complete - (report.kept or 0)
    return report.concurrency + ended if by_time or not ended else None
