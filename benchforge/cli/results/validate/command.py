"""`benchforge validate`: whether result files are what they claim to be."""

from dataclasses import dataclass
from pathlib import Path

from benchforge.cli.console.options import argument, click_command

INVALID, UNREADABLE = 1, 2


@dataclass(frozen=True)
class ValidateOptions:
    """Which results, or files of them, are validated."""

    paths: tuple[Path, ...] = argument(metavar="PATH...", required=True)


@click_command("validate", ValidateOptions)
def command(options: ValidateOptions) -> int:
    """Check that the files of results are complete and agree with each other.

    PATH is a result folder or one of its files.

    benchforge computes the summary of a folder again from its trials. This needs no program, and
    of the suite's plugins only the metrics.

    Exit codes: 0 everything is valid; 1 a file is invalid; 2 a file cannot be read, or the summary
    cannot be computed again.
    """
    from benchforge.cli.console.named_file import without_suites
    from benchforge.cli.console.say import say, show
    from benchforge.cli.results.validate.validity import result_faults
    from benchforge.model.files.folder import SUMMARY, hint_of
    from benchforge.parts.registry import Registry
    from benchforge.text import safe

    code = 0
    registry = Registry()
    for path in without_suites(options.paths):
        path_faults = result_faults(path, registry)
        if not path_faults:
            alone = path.is_file() and path.name == SUMMARY
            more = "; not recomputed from its trials, verdicts included: name the folder"
            show(f"{path}: valid{more if alone else ''}")
        for fault in path_faults:
            show(safe.word(str(fault)))
            code = max(code, INVALID if fault.kind == "invalid" else UNREADABLE)
            if hint := hint_of(fault):
                say(f"hint: {hint}")
    return code
