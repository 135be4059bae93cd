"""`benchforge verify`: whether the files of a result agree, down to its raw files."""

from pathlib import Path
from typing import Literal

import click

from benchforge.cli.console.options import argument, click_command, option

CONTRADICTED, NOT_PROVED = 1, 2


class _Options:
    folder: Path = argument(metavar="RESULT")
    level: Literal["form", "numbers", "evidence"] = option(
        default="evidence",
        help="form: the files are those that were listed, and say nothing that cannot be. "
        "numbers: besides, the summary and the reports follow from the trials. evidence: besides, "
        "the trials follow from the raw files.",
    )
    name_all: bool = option("--all", help="Print every difference, not only the first.")
    jobs: int = option(
        *("-j", "--jobs"),
        type=click.IntRange(1, 256),
        default=1,
        help="Number of processes that compute trials again from their raw files.",
    )
    signers: Path | None = option(
        metavar="FILE",
        help="Check the signature by this list of signers, which has the format of allowed_signers "
        "in ssh-keygen(1).",
    )


@click_command("verify", _Options)
def command(options: _Options) -> int:
    """Check the files of a result, recompute its numbers from its raw files, and compare.

    This writes nothing, and starts no process but ssh-keygen with --signers. It needs no program
    and no app; of the suite's plugins it needs those of load tools and metrics for the level
    evidence, those of metrics for numbers, and none for form. The last line says what is shown.

    Exit codes: 0 proved: all files and numbers agree; 1 contradicted: a number, a file or the
    signature differs; 2 not proved: a number cannot be read or recomputed, or a file is not signed;
    3 ssh-keygen is missing.
    """
    from benchforge.cli.console.say import show
    from benchforge.cli.results.progress_bar import begin_long_work
    from benchforge.parts.registry import Registry
    from benchforge.results.verify.in_words import answer_lines, scope_line
    from benchforge.results.verify.recompute.compare import verify
    from benchforge.results.verify.ssh_keygen import check_signature
    from benchforge.text import safe

    folder, signers = options.folder, options.signers
    begin_long_work()
    verified = verify(folder, Registry(), options.level, jobs=options.jobs)
    signed = "" if signers is None else check_signature(folder, signers, verified)
    for line in answer_lines(folder, verified, all_of_them=options.name_all):
        show(safe.word(line))
    show(safe.word(scope_line(options.level, folder, verified, signed)))
    return CONTRADICTED if verified.differing else NOT_PROVED if verified.not_proved else 0
