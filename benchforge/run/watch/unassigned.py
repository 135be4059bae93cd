"""What runs in a trial and belongs to no part: it is counted, and blamed on nobody."""

from collections.abc import Sequence

from benchforge.run.sandbox.children import children, children_told
from benchforge.run.sandbox.sandbox import Running, Sandbox
from benchforge.run.watch.memory import ownerless
from benchforge.run.watch.part import PartProcesses


class Unassigned:
    """Processes below the keeper and below no part.

    A task that prepared a service may have left some, or a part whose reaper was killed.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._keeper = sandbox.init_pid
        self._own_files = sandbox.mode.shared_memory == "private"
        self._own: set[int] = set()
        self._processes = PartProcesses("", "server", 0, lambda: ())

    def begin(self) -> None:
        """Count from now on."""
        self._processes.begin(counted_from_birth=False)

    def leave_out(self, running: Running) -> None:
        """Take a process, and all below its reaper, for benchforge's own."""
        self._own |= {running.outer_pid, running.reaper}

    def look(self, at_s: float, parts: Sequence[PartProcesses]) -> None:
        """Look at all of them. What a part has known goes on to be the part's."""
        of_parts = {pid for part in parts for pid in part.all_pids}
        strays = [
            pid for pid in children(self._keeper, self._keeper) if pid not in of_parts | self._own
        ]
        self._processes.look(at_s, fully=True, more=strays)

    def shared_bytes(self, parts: Sequence[PartProcesses]) -> int | None:
        """Return the bytes of files in the trial's /dev/shm that no part has open or mapped.

        None where they are hidden, or the machine's.
        """
        pids = [pid for part in parts for pid in part.pids]
        if not self._own_files or not pids:
            return None
        try:
            return ownerless(pids[0], pids)
        except OSError:
            return None

    def cpu_s(self) -> float | None:
        """Return their CPU time since the load began, in seconds; None where it is hidden."""
        return self._processes.cpu_s() if children_told() else None
