"""Tasks: commands that run to their end in a trial's place, and are judged."""

from pathlib import Path

from benchforge.errors import TrialFailed
from benchforge.parts.command import Command, Task
from benchforge.run.here import Here, complaint
from benchforge.run.locate import libraries

TASK_WITHIN_S = 120.0


def done(here: Here, task: Task, label: str, of: str, folder: Path) -> None:
    """Run a task of the part labelled `of`; it prints to `folder/<label>.out` and `.err`.

    Raises TrialFailed when its output is not what it should be, with its last lines.
    """
    finished = here.run(label, located(task.command), folder, {}, TASK_WITHIN_S)
    if why := task.judge(finished):
        raise TrialFailed("prepare", f"{of}: {task.says}: {why}", log=complaint(finished))


def located(command: Command) -> Command:
    """Return the command with the libraries of a program that was unpacked, not installed."""
    return Command(
        *command.argv,
        environment=libraries(Path(command.argv[0])) | dict(command.environment),
        folder=command.folder,
        ordinary_user=command.ordinary_user,
        stdin=command.stdin,
    )
