"""`benchforge audit`: whether results of other tools can be true."""

import sys
from pathlib import Path

from click import Choice

from benchforge.cli.console.options import AS_JSON, argument, click_command, option
from benchforge.errors import Unusable

CONTRADICTED, NOTHING = 1, 4


class _Options:
    sources: tuple[str, ...] = argument(metavar="FILE...", required=True)
    reader: str = option("--as", metavar="READER", default="", help="Name the reader of the files.")
    connections: str | None = option(
        metavar="N", help="Number of concurrent connections of the load."
    )
    pipeline: str | None = option(metavar="N", help="Most requests at once on one connection.")
    duration: str | None = option(
        metavar="TIME", help="Duration to which the load was set, as in 15s."
    )
    cores: str | None = option(metavar="N", help="Number of CPUs that the server had.")
    link: str | None = option(metavar="SPEED", help="Speed of the network, such as 10Gbit/s.")
    body: str | None = option(metavar="BYTES", help="Length of the right body in bytes.")
    loop: str | None = option(
        type=Choice(["closed", "open"]),
        help="Loop of the load: closed if each connection waits for its response.",
    )
    columns: tuple[str, ...] = option(
        "--column",
        metavar="FACT=TITLE[:UNIT]",
        help="Column of a table for --as columns, such as mean=avg_ms:ms; repeatable.",
    )
    details: bool = option(help="Print the findings of each source, not the answer.")
    everything: bool = option("--all", help="Print each finding, not three of a kind.")
    fail_on: str = option(
        type=Choice(["impossible", "false", "unsupported"]),
        default="false",
        help="Least severe finding that makes the exit code 1.",
    )
    as_json: bool = AS_JSON
    markdown: bool = option(help="Print Markdown instead of text.")
    page: Path | None = option("--html", metavar="FILE", help="Also write the findings as a page.")
    junit_file: Path | None = option(
        "--junit", metavar="FILE", help="Also write the checks as JUnit's XML."
    )


@click_command("audit", _Options)
def command(options: _Options) -> int:
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
    from benchforge.cli.results.audit.answer import AuditAnswer
    from benchforge.cli.results.audit.audited import Sources
    from benchforge.cli.results.audit.finding import FAIL_ON
    from benchforge.cli.results.audit.sources import column, facts_of, readers
    from benchforge.parts.registry import Registry

    if options.as_json and options.markdown:
        raise Unusable("--json and --markdown", "leave one out")
    facts = facts_of(vars(options))
    candidates = readers(Registry(), options.reader, dict(map(column, options.columns)))
    most = sys.maxsize if options.everything else documents.OF_A_KIND * options.details
    printer = documents.printer(facts, most, as_json=options.as_json, markdown=options.markdown)
    sources, answer, pages = Sources(), AuditAnswer(), documents.Pages()
    for audit in sources.audits(options.sources, candidates, facts):
        if printer:
            show(printer.source(audit))
        answer.add(audit)
        if options.page or options.junit_file:
            pages.add(audit)
    conclusion = documents.conclusion(answer.counts, answer.held)
    show(printer.end(sources, conclusion) if printer else answer.text(sources, facts))
    if options.page is not None:
        sentences = answer.sentences(sources, facts)
        page = documents.document(pages, sources, sentences, answer.counts, answer.held)
        write_page(options.page, page)
    if options.junit_file is not None:
        write_file(options.junit_file, documents.junit(pages, sources))
    if not sources.is_complete:
        return Unusable.exit_code
    if any(answer.counts[severity] for severity in FAIL_ON[options.fail_on]):
        return CONTRADICTED
    if not answer.checked:
        say("nothing could be checked: the sources state too little")
        return NOTHING
    return 0
