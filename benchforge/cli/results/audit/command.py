"""`benchforge audit`: whether results of other tools can be true."""

from dataclasses import dataclass
from pathlib import Path

from click import Choice

from benchforge.cli.console.options import AS_JSON, argument, click_command, option
from benchforge.errors import Unusable

CONTRADICTED, NOTHING = 1, 4


@dataclass(frozen=True)
class AuditOptions:
    """Which files are audited, what the auditor knows of them, and how findings are shown."""

    sources: tuple[str, ...] = argument(metavar="FILE...", required=True)
    reader: str = option("--as", metavar="READER", default="", help="Name the reader of the files.")
    connections: str | None = option(
        "--connections", metavar="N", help="Number of concurrent connections of the load."
    )
    pipeline: str | None = option(
        "--pipeline", metavar="N", help="Most requests at once on one connection."
    )
    duration: str | None = option(
        "--duration", metavar="TIME", help="Duration to which the load was set, as in 15s."
    )
    cores: str | None = option("--cores", metavar="N", help="Number of CPUs that the server had.")
    link: str | None = option(
        "--link", metavar="SPEED", help="Speed of the network, such as 10Gbit/s."
    )
    body: str | None = option("--body", metavar="BYTES", help="Length of the right body in bytes.")
    columns: tuple[str, ...] = option(
        "--column",
        metavar="FACT=TITLE[:UNIT]",
        help="Column of a CSV file for --as columns, such as mean=avg_ms:ms; repeatable.",
    )
    details: bool = option("--details", help="Print the findings of each source, not the answer.")
    everything: bool = option("--all", help="Print each finding, not three of a kind.")
    fail_on: str = option(
        "--fail-on",
        type=Choice(["impossible", "false", "unsupported"]),
        default="false",
        help="Least severe finding that makes the exit code 1.",
    )
    as_json: bool = AS_JSON
    markdown: bool = option("--markdown", help="Print Markdown instead of text.")
    page: Path | None = option("--html", metavar="FILE", help="Also write the findings as a page.")
    junit_file: Path | None = option(
        "--junit", metavar="FILE", help="Also write the checks as JUnit's XML."
    )


@click_command("audit", AuditOptions)
def command(options: AuditOptions) -> int:
    """Check results of other tools for numbers that cannot be true.

    FILE is what a load tool or a timer printed, or a published table; a folder of such files; or -
    for standard input, as in: wrk -t2 -c64 http://127.0.0.1:8080/ | benchforge audit -

    benchforge recognizes wrk, wrk2, ab, hey, oha, bombardier, vegeta, autocannon, h2load, k6,
    locust, JMeter, hyperfine, pyperf, pytest-benchmark and tables of three leaderboards by their
    content.
    What a result does not state is unknown. The options state it for all rows that lack it.

    An audit finds numbers that contradict each other. It does not show that a result is right.

    Exit codes: 0 no finding is as severe as --fail-on; 1 one is: by default a number is impossible,
    or a field is false; 2 a file or a result in it cannot be read; 4 nothing could be checked.
    """
    from benchforge.cli.console.named_file import write_file, write_page
    from benchforge.cli.console.say import say, show
    from benchforge.cli.results.audit import documents
    from benchforge.cli.results.audit.audited import audits_of, between
    from benchforge.cli.results.audit.documents import answer, document, junit, text
    from benchforge.cli.results.audit.finding import FAIL_ON
    from benchforge.cli.results.audit.sources import column, facts_of, readers
    from benchforge.parts.registry import Registry

    if options.as_json and options.markdown:
        raise Unusable("--json and --markdown", "leave one out")
    facts = facts_of(vars(options))
    candidates = readers(Registry(), options.reader, dict(map(column, options.columns)))
    audits, is_complete = audits_of(options.sources, candidates, facts)
    between(audits)
    if options.as_json:
        show(documents.as_json(audits, facts))
    elif options.markdown:
        show(documents.as_markdown(audits, facts))
    elif not options.details and not options.everything:
        show(answer(document(audits, facts), audits))
    else:
        show(text(document(audits, facts), everything=options.everything))
    if options.page is not None:
        write_page(options.page, document(audits, facts))
    if options.junit_file is not None:
        write_file(options.junit_file, junit(document(audits, facts)))
    if not is_complete:
        return Unusable.exit_code
    if any(
        entry.severity in FAIL_ON[options.fail_on] for audit in audits for entry in audit.findings
    ):
        return CONTRADICTED
    if not any(audit.checked for audit in audits):
        say("nothing could be checked: the sources state too little")
        return NOTHING
    return 0
