"""What a torture of several hosts did: a row for each kill, and the table of all of them.

The rows are in `kills.csv` beside this file: `make torture-hosts` writes them, and the page of
robustness shows them. `python -m faults.host_kills FILE` prints the table of a file.
"""

import csv
import statistics
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

KILLS = Path(__file__).with_name("kills.csv")
PHASES = ("connecting", "between trials", "a trial", "a load")
GONE_S = 10.0
"Within which all of it must be gone, on all hosts."
HEAD = """
## Several hosts

`make torture-hosts` hits a run on two hosts at random moments, with each engine: it kills a
process, or cuts the network of a host. A run that goes on is hit again. All processes that a fault
should end, on both hosts and on benchforge's own machine, must be gone after ten seconds. The
columns from *connecting* to *a load* say what the run did at that moment. *Median* and *longest*
are times until nothing was left. The table is made from recorded kills
(`tests/support/faults/kills.csv`).

"""


class Kill(NamedTuple):
    """One kill, or one cut."""

    date: str
    seed: int
    engine: str
    fault: str
    host: str
    "Host that was hit; empty for benchforge's own machine."
    phase: str
    gone_s: float
    "Seconds until nothing was left, on any host."
    left: int
    "Processes that were left after ten seconds."


def append(file: Path, kill: Kill) -> None:
    """Add a row to a file; the first one brings the names of the columns."""
    new = not file.exists()
    with file.open("a", newline="") as rows:
        writer = csv.writer(rows, lineterminator="\n")
        if new:
            writer.writerow(Kill._fields)
        writer.writerow(kill._replace(gone_s=round(kill.gone_s, 2)))


def kills(file: Path) -> list[Kill]:
    """Return all rows of a file."""
    with file.open(newline="") as rows:
        return [
            Kill(date, int(seed), engine, fault, host, phase, float(gone_s), int(left))
            for date, seed, engine, fault, host, phase, gone_s, left in [*csv.reader(rows)][1:]
        ]


def table(rows: Iterable[Kill]) -> str:
    """Return a row for each fault of each engine, in the order of their first kills."""
    by_fault: dict[tuple[str, str], list[Kill]] = {}
    for item in sorted(rows, key=lambda kill: (kill.engine != "ssh", kill.fault)):
        by_fault.setdefault((item.engine, item.fault), []).append(item)
    names = ("engine", "fault", "kills", *PHASES, "left after 10 s", "median", "longest")
    lines = [_line(names), "|" + "---|" * len(names)]
    lines += [_row(*which, subject) for which, subject in by_fault.items()]
    return "\n".join([*lines, ""])


def _row(engine: str, fault: str, kills: Sequence[Kill]) -> str:
    gone = [kill.gone_s for kill in kills]
    total = sum(kill.left > 0 for kill in kills)
    phases = [str(sum(kill.phase == phase for kill in kills)) for phase in PHASES]
    text = f"something, {total} times" if total else "nothing"
    times = (f"{statistics.median(gone):.1f} s", f"{max(gone):.1f} s")
    return _line((engine, fault, str(len(kills)), *phases, text, *times))


def _line(words: Sequence[str]) -> str:
    return f"| {' | '.join(words)} |"


def section(rows: Sequence[Kill]) -> str:
    """Return the section of the page."""
    days = sorted({kill.date for kill in rows})
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    counted = f"The {len(rows)} kills are of {when}, on a machine with other work."
    left_out = (
        "Five are left out. Four cuts while hosts of dask were connecting left the far end of the "
        "other host for 20 s. This defect was mended. One kill hit a session of sshd whose network "
        "had been cut before, which served nobody. One run with dask printed its report after "
        "SIGTERM, and had not exited two minutes later. That was seen once. Its cause is unknown."
    )
    return f"{HEAD}{table(rows)}\n{counted} {left_out}\n"


if __name__ == "__main__":
    sys.stdout.write(table(kills(Path(sys.argv[1]))))
