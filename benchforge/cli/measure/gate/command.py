"""`benchforge gate`: check whether a change makes servers slower."""

import json
from pathlib import Path

from click import Choice

from benchforge.cli.console import options as cli
from benchforge.errors import Unusable


class GateOptions:
    """Options of `gate`: suite, base, limit, times and files."""

    suite: Path = cli.argument(type=cli.SuiteFile())
    base: str | None = cli.option(
        metavar="REF",
        help="Branch, tag or commit to compare with, such as origin/main; or an older result, for "
        "the commits and options of its servers.",
    )
    limit: str = cli.option(
        metavar="SHARE", default="5%", help="Largest loss of speed that passes."
    )
    time_limit: str = cli.option(
        "--time",
        metavar="DURATION",
        default="5m",
        help="Time limit of the measurement, which ends earlier once each verdict is decided.",
    )
    undecided: str = cli.option(
        type=Choice(["pass", "fail", "rerun"]),
        default="fail",
        help="What an undecided gate does: exit with 0, exit with 4, or measure for as long again "
        "in the same run, then exit with 4. Without any interval it always exits with 4.",
    )
    profile: str | None = cli.PROFILE
    only: tuple[str, ...] = cli.only("Check")
    lock: str | None = cli.option(
        metavar="FILE",
        help="Lock file, relative to the top of the repository.  [default: the nearest one]",
    )
    against: tuple[Path, ...] = cli.option(
        metavar="RESULT",
        help="Compare with older results of this machine instead of --base: a result, or a folder "
        "of five or more; repeatable.",
    )
    reference: str | None = cli.option(
        metavar="LABEL",
        help="With --against: a server that never changes, and that all results have.",
    )
    comment: Path | None = cli.option(metavar="FILE", help="Write the verdicts as Markdown.")
    junit: Path | None = cli.option(metavar="FILE", help="Write the verdicts as JUnit's XML.")
    badge: Path | None = cli.option(metavar="FILE", help="Write a badge: an .svg or a .json file.")
    as_json: bool = cli.AS_JSON
    details: bool = cli.DETAILS
    output: Path = cli.RESULTS
    machine_lock: cli.Lock = cli.MACHINE_LOCK


@cli.click_command("gate", GateOptions)
def command(options: GateOptions) -> int:
    """Check whether the working tree is slower than a base commit.

    benchforge measures both side by side in one run, in turns where that is valid. Each has the
    packages of its own lock file: uv.lock, poetry.lock, or a requirements.txt with pins. The
    verdict on each server of each scenario is "not slower by more than 5 %", "slower",
    "undecided" or "broken": a server that answers wrongly fails, however fast it is. In
    simulations, at most 1 % of the checks of unchanged servers say "slower".

    In GitHub's actions, the verdicts are also in the job's summary.

    Exit codes: 0 nothing is slower, and the working tree answers rightly; 1 something is slower or
    broken; 2 the suite, the base or the lock file cannot be used; 3 a program or a package is
    missing; 4 something is invalid, or undecided without --undecided pass, or another process
    measures and you gave --no-wait. A waiver of the suite counts as not slower.
    """
    from benchforge.cli.console.say import show, warn
    from benchforge.cli.measure.duel.servers import quantity
    from benchforge.cli.measure.gate.against import against_results
    from benchforge.cli.measure.gate.beside import GateRequest, beside
    from benchforge.cli.measure.gate.files import check_badge, first_screen, lines, write
    from benchforge.cli.measure.gate.outcome import document
    from benchforge.model.files.folder import read_header
    from benchforge.model.values.units import Duration, Share
    from benchforge.parts.registry import Registry

    check_badge(options.badge)
    time_s = float(quantity(Duration, "--time", options.time_limit))
    most_s = time_s * (1 + (options.undecided == "rerun"))
    limit = float(quantity(Share, "--limit", options.limit))
    request = GateRequest(options, limit, time_s, most_s)
    registry = Registry()
    registry.listen(warn)
    base, against, reference = options.base, options.against, options.reference
    if base is not None and not against and reference is None:
        outcome, ended = beside(request, base, registry)
    elif base is None and against and reference is not None:
        outcome, ended = against_results(request, against, reference, registry)
    else:
        hint = "such as --base origin/main, or --against results --reference stable"
        raise Unusable("gate: needs --base, or --against with --reference", hint)
    if outcome.result and (holder := read_header(Path(outcome.result)).facts.get("lock")):
        outcome = outcome._replace(notes=(*outcome.notes, f"the machine's lock was {holder}"))
    if options.undecided == "pass":
        questions = tuple(pair._replace(tolerated=True) for pair in outcome.questions)
        outcome = outcome._replace(questions=questions)
    if options.as_json:
        show(json.dumps(document(outcome), indent=1, allow_nan=False))
    else:
        show("\n".join(lines(outcome) if options.details else first_screen(outcome)))
    write(outcome, comment=options.comment, junit_xml=options.junit, badge=options.badge)
    return ended or outcome.exit_code
