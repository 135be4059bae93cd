"""`benchforge report`: the answer and the reports of a stored result."""

from pathlib import Path

from benchforge.cli.console.options import DETAILS, argument, click_command, option
from benchforge.errors import Unusable

ALL = "all"  # --why without an id


class ReportOptions:
    """Options of `report`: a result, reporters, and files."""

    results: tuple[Path, ...] = argument(metavar="[RESULT]")
    why: str | None = option(
        metavar="ID",
        is_flag=False,
        flag_value=ALL,
        help="Print all that is known of the findings of a check, such as K1; alone, of all "
        "checks.",
    )
    details: bool = DETAILS
    brief: bool = option(
        help="Print the answer as Markdown for a chat, without a host, a user or a home; with -o "
        "FILE.svg or FILE.md, write it as a drawing or as text."
    )
    write: bool = option(help="Write summary and reports anew into the result.")
    opened: bool = option("--open", help="Write the page into the cache, and open it in a browser.")
    names: tuple[str, ...] = option(
        "--reporter", metavar="NAME", help="Use only this reporter; repeatable."
    )
    output: str | None = option(
        *("-o", "--output"),
        metavar="FOLDER",
        help="Folder to write to; - prints the output of one reporter.",
    )


@click_command("report", ReportOptions)
def command(options: ReportOptions) -> int:
    """Print the answer of a result, formed again from its trials.

    Without RESULT, the newest result in the folder results is taken. The run may be interrupted or
    still in progress. The result stays as it is: its files are evidence. Only with --write
    benchforge writes summary and reports anew into it.

    Built-in reporters: csv, html and markdown, which every run uses, and answer, brief, github,
    json, junit, terminal and why.

    Exit codes: 0 the answers are printed, whatever they say; 1 a file of the result is invalid; 2
    RESULT is not a result, or there is no such reporter; 5 the reports cannot be written.
    """
    from functools import partial

    from benchforge.cli.console.reported import text_of
    from benchforge.cli.console.say import show
    from benchforge.cli.results.progress_bar import begin_long_work
    from benchforge.cli.results.report import reports
    from benchforge.parts.registry import Registry
    from benchforge.results.conclude import summed
    from benchforge.results.report_files import reporter

    results, names, reason = options.results, options.names, options.why
    if reason is not None and not results and Path(reason).is_dir():
        results, reason = (Path(reason),), ALL  # the option takes the word behind it
    registry, result = Registry(), reports.named_result(results)
    source = partial(summed, result, registry, with_trials=True)
    begin_long_work()
    for name in names:
        reporter(registry, name)  # one that is not known is told before anything is read
    if result.is_file():
        raise Unusable(f"{result}: is a file", "name the folder of a result, with its trials")
    if reason is not None:
        summary = reports.with_findings(source(), None if reason == ALL else reason)
        show(text_of("why", *summary, registry), painted=True)
        return 0
    if options.brief:
        return reports.shown_brief(source, registry, options.output)
    if options.opened:
        return reports.open_page(source(), registry)
    if options.output == "-":
        show(reports.one_report(source(), registry, names).rstrip("\n"), painted=True)
        return 0
    if names and not (options.write or options.output):
        message = f"--reporter {names[0]}: no folder is named for its files"
        raise Unusable(message, "name one with -o, or add --write for the folder of the result")
    reports.written(result, registry, options)
    return 0
