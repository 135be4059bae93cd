"""Memory of a process, without counting shared pages twice."""

from pathlib import Path


def pss(pid: int) -> int | None:
    """Return the proportional set size in bytes; 0 for an ended process, None for a hidden one."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    except PermissionError:
        return None
    for line in text.splitlines():
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) * 1024
    return 0  # a zombie has no memory
