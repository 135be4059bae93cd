"""`benchforge validate`: whether result files are what they claim to be."""

from pathlib import Path

from benchforge.cli.screen.say import say, show
from benchforge.model.files.folder import SUMMARY, hint_of
from benchforge.registry import Registry
from benchforge.text import safe
from benchforge_results.named_file import without_suites
from benchforge_results.validate.validity import result_faults

INVALID, UNREADABLE = 1, 2


def main(paths: tuple[Path, ...]) -> int:
    """Check that results, or single files of them, are complete and consistent."""
    code = 0
    registry = Registry()
    for path in without_suites(paths):
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
