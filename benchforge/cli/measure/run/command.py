"""`benchforge run`: from a suite to a result, its report and an exit code."""

from pathlib import Path

from benchforge.cli.console import options as cli
from benchforge.errors import Unusable


class _Options:
    suite: Path | None = cli.argument(type=cli.SuiteFile(), required=False)
    profile: str | None = cli.PROFILE
    settings: tuple[tuple[str, str], ...] = cli.SETTINGS
    only: tuple[str, ...] = cli.only("Run")
    output: Path | None = cli.option(
        *("-o", "--output"),
        help="Directory in which the result folder is created.  [default: results]",
    )
    resume: Path | None = cli.option(
        metavar="RESULT",
        help="Continue the run of this result folder. Name SUITE only if its file was moved.",
    )
    anyway: bool = cli.option(
        help="Resume even if the machine, benchforge or a program has changed; "
        "the report lists the changes."
    )
    as_json: bool = cli.option("--json", help="Print the summary as JSON instead of the answer.")
    details: bool = cli.DETAILS
    reports: tuple[str, ...] = cli.option(
        "--report",
        metavar="NAME",
        help="Also write the report of this reporter, such as junit or github.",
    )
    fail_fast: bool = cli.option(help="Stop at the first trial that fails.")
    inconclusive_fails: bool = cli.option(help="Exit with 1 if a claim is inconclusive, too.")
    time_limit: str | None = cli.option(
        metavar="DURATION",
        help="Limit the whole run, such as 5m: no trial starts that would end later. "
        "--resume measures the others.",
    )
    machine_lock: cli.Lock = cli.MACHINE_LOCK


@cli.click_command("run", _Options)
def command(options: _Options) -> int:
    """Measure SUITE and report the results.

    SUITE is a file, or the name of a built-in suite such as macro. It is required unless you use
    --resume.

    Exit codes: 0 every case has a believable value, and every claim holds or is inconclusive; 1 a
    claim fails; 2 the suite or the command line cannot be used; 3 a program is missing; 4 a case
    has no believable value, a comparison is broken or not comparable, a search has no answer, a
    claim is invalid, or another process measures and you gave --no-wait; 5 results cannot be
    written; 130 and 143 interrupted.
    """
    from benchforge.cli.console.reported import Shown
    from benchforge.cli.console.say import warn
    from benchforge.cli.measure.run.run import begin, resume, time_limit_s
    from benchforge.cli.measure.run.session import RunOptions
    from benchforge.parts.registry import Registry
    from benchforge.results.report_files import reporter
    from benchforge.run.execute import StopLimits

    registry = Registry()
    run_options = RunOptions(
        registry,
        options.profile,
        options.settings,
        options.only,
        StopLimits(options.fail_fast, time_limit_s(options.time_limit)),
        Shown(options.as_json, options.inconclusive_fails, options.reports, options.details),
        options.machine_lock,
    )
    registry.listen(warn)
    for name in options.reports:
        reporter(registry, name)  # one that is not known is told before anything starts
    if options.resume is None:
        if options.suite is None:
            raise Unusable("run: no suite is named", "name a suite, or use --resume RESULT")
        if options.anyway:
            hint = "add --resume RESULT, or leave it out"
            raise Unusable("--anyway: works only with --resume", hint)
        return begin(options.suite, options.output or Path("results"), run_options)
    if options.output is not None:
        message = f"-o {options.output}: --resume continues in the result's own folder"
        raise Unusable(message, "leave out -o")
    if options.machine_lock == "without":
        message = "--without-lock: works only for a new run"
        raise Unusable(message, "leave it out, or run the suite anew")
    return resume(options.resume, options.suite, run_options, anyway=options.anyway)
