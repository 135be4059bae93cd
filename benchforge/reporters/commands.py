"""Commands as a shell would take them."""

import shlex
from collections.abc import Iterator, Sequence

from benchforge.plugin import Started, Trial


def command_line(process: Started) -> str:
    """Return a command, with what was added to its environment before it."""
    added = [f"{name}={shlex.quote(value)}" for name, value in process.environment.items()]
    return " ".join([*added, shlex.join(process.argv)])


def first_commands(trials: Sequence[Trial]) -> Iterator[tuple[str, str]]:
    """Yield the title of each case, and the commands of its first trial that has any."""
    seen: set[str] = set()
    for trial in trials:
        if trial.processes and trial.case.title not in seen:
            seen.add(trial.case.title)
            yield trial.case.title, "\n".join(map(command_line, trial.processes))
