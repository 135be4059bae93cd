"""`benchforge validate`: the form of result files, and whether they agree."""

from pathlib import Path

from benchforge.cli.console.options import argument, click_command

INVALID, UNREADABLE = 1, 2


class _Options:
    paths: tuple[Path, ...] = argument(metavar="PATH...", required=True)


@click_command("validate", _Options)
def command(options: _Options) -> int:
    """Check that the files of results are complete and agree in form: the first level of verify.

    PATH is a result folder or one of its files. This needs no program and no plugin. The numbers of
    a folder are not computed again: benchforge verify does that.

    Exit codes: 0 everything is valid; 1 a file is invalid; 2 a file cannot be read.
    """
    from benchforge.cli.console.named_file import without_suites
    from benchforge.cli.console.say import say, show
    from benchforge.cli.results.progress_bar import begin_long_work
    from benchforge.model.files.folder import hint_of
    from benchforge.results.validity.faults import faults
    from benchforge.results.verify.form import verified_form
    from benchforge.results.verify.in_words import ALONE, FORM
    from benchforge.text import safe

    code = 0
    begin_long_work()
    for path in without_suites(options.paths):
        if folder := path.is_dir():
            verified = verified_form(path)
            wrong = [*verified.differing, *verified.cannot]
        else:
            wrong = faults(path)
        if not wrong:
            show(safe.word(f"{path}: valid: {FORM if folder else ALONE}"))
        for fault in wrong:
            show(safe.word(str(fault)))
            code = max(code, INVALID if fault.kind == "invalid" else UNREADABLE)
            if hint := hint_of(fault):
                say(f"hint: {hint}")
    return code
