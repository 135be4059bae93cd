"""`benchforge audit`: whether results of other tools can be true."""

import click

from benchforge.cli.deferred import runs
from benchforge.cli.options import AS_JSON, PATH


@click.command("audit")
@click.argument("sources", metavar="FILE...", nargs=-1, required=True)
@click.option("--as", "reader", metavar="READER", default="", help="Name the reader of the files.")
@click.option("--connections", metavar="N", help="Number of concurrent connections of the load.")
@click.option("--pipeline", metavar="N", help="Most requests at once on one connection.")
@click.option("--duration", metavar="TIME", help="Duration to which the load was set, as in 15s.")
@click.option("--cores", metavar="N", help="Number of CPUs that the server had.")
@click.option("--link", metavar="SPEED", help="Speed of the network, such as 10Gbit/s.")
@click.option("--body", metavar="BYTES", help="Length of the right body in bytes.")
@click.option(
    *("--column", "columns"),
    metavar="FACT=TITLE[:UNIT]",
    multiple=True,
    help="Column of a CSV file for --as columns, such as mean=avg_ms:ms; repeatable.",
)
@click.option("--all", "everything", is_flag=True, help="Print each finding, not three of a kind.")
@AS_JSON
@click.option("--markdown", is_flag=True, help="Print Markdown instead of text.")
@click.option(
    *("--html", "page"), metavar="FILE", type=PATH, help="Also write the findings as a page."
)
@click.option(
    *("--junit", "junit_file"),
    metavar="FILE",
    type=PATH,
    help="Also write the checks as JUnit's XML.",
)
@runs("benchforge_commands.audit.shown")
def command() -> None:
    """Check results of other tools for numbers that cannot be true.

    FILE is what a load tool or a timer printed, or a published table; a folder of such files; or -
    for standard input, as in: wrk -t2 -c64 http://127.0.0.1:8080/ | benchforge audit -

    benchforge recognizes wrk, wrk2, ab, hey, oha, bombardier, vegeta, autocannon, h2load, k6,
    locust, JMeter, hyperfine, pyperf, pytest-benchmark and tables of three leaderboards by their
    content.
    What a result does not state is unknown. The options state it for all rows that lack it.

    An audit finds numbers that contradict each other. It does not show that a result is right.

    Exit codes: 0 nothing is impossible; 1 a number is impossible, or a field is false; 2 a file
    cannot be read; 4 nothing could be checked.
    """
