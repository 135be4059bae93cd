"""Tasks: commands that run to their end in a trial's place, and are judged."""

from pathlib import Path

from benchforge.errors import TrialFailed
from benchforge.parts.command import Task
from benchforge.run.sandbox.sandbox import Sandbox, complaint

TASK_WITHIN_S = 120.0


def done(sandbox: Sandbox, task: Task, label: str, of: str, folder: Path) -> None:
    """Run a task of the part labelled `of`; it prints to `folder/<label>.out` and `.err`.

    Raises TrialFailed when its output is not what it should be, with its last lines.
    """
    finished = sandbox.run(label, task.command, folder, {}, TASK_WITHIN_S)
    if why := task.judge(finished):
        raise TrialFailed("prepare", f"{of}: {task.says}: {why}", log=complaint(finished))
