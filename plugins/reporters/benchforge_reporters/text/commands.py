"""Commands as a shell would take them."""

import shlex
from collections.abc import Iterator, Sequence

from benchforge.plugin import StartedProcess, Summary, Trial


def command_line(process: StartedProcess) -> str:
    """Return a command, with what was added to its environment before it."""
    added = [f"{name}={shlex.quote(value)}" for name, value in process.environment.items()]
    return " ".join([*added, shlex.join(process.argv)])


def first_commands(summary: Summary, trials: Sequence[Trial]) -> Iterator[tuple[str, str]]:
    """Yield the title of each case, and the commands of its first trial that has any.

    In the order of the suite: that of the trials is shuffled.
    """
    first: dict[str, Trial] = {}
    for trial in trials:
        if trial.processes:
            first.setdefault(trial.case.title, trial)
    titles = dict.fromkeys(one.case.title for one in summary.cases)
    for title in (*titles, *(other for other in first if other not in titles)):
        if title in first:
            yield title, "\n".join(map(command_line, first[title].processes))
