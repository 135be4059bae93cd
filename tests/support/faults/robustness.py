"""The page of all rows that the tests of faults have.

`python -m faults.robustness SEEN` prints docs/robustness.md from what tests wrote into SEEN.
"""

import os
import re
import signal
import sys
from pathlib import Path

from faults.host_kills import KILLS, kills, section
from faults.watched import Watched

PAGE = Path(__file__).parents[3] / "docs/robustness.md"
HEAD = """# What happens when things go wrong

The tests in `tests/faults/test_robustness*.py` produce each row, and fail if a row changes. `make
robustness` writes this page from these tests. It leaves out numbers, times and paths. A process
above benchforge, which adopts orphaned processes, lists everything that still runs after twenty
seconds. `make torture` prints how long the clean-up takes.

| fault | what is printed | exit code | what is left |
|---|---|---|---|
"""


def noted(fault: str, watched: Watched, *words: str, text: str = "") -> None:
    """Hold a row against the page, or write it down where ROBUSTNESS names a file.

    Of what was printed it has the lines that hold one of `words`; each must be in one. `after` is
    what came next.
    """
    output = watched.ended()
    lines = []
    for word in words:
        actual = [line for line in output.all.splitlines() if word in line]
        assert actual, f"not printed: {word!r}\n{output.all}"
        lines.append(plain(actual[0], watched.folder))
    output_ = "<br>".join(f"`{line}`" for line in dict.fromkeys(lines)) or "nothing"
    code = "killed" if output.code == 128 + signal.SIGKILL else str(output.code)
    row = f"| {fault} | {output_} | {code} | {watched.leaves}{text} |"
    if path := os.environ.get("ROBUSTNESS"):
        with Path(path).open("a") as file:
            file.write(f"{row}\n")
    else:
        assert row in PAGE.read_text().splitlines(), f"the page has no such row:\n{row}"


def plain(line: str, folder: Path) -> str:
    """A line as it is in every run: what differs is named by what it is."""
    line = line.replace(str(folder), "FOLDER").replace("|", "/").strip()
    for pattern, name in (
        (r"results/[\w-]+Z(-\d+)?", "RESULT"),
        (r"process \d+ \([^)]*\)", "process N (...)"),
        *((r"process \d+", "process N"), (r"port \d+", "port N"), (r"bf-\w+", "bf-X")),
        *((r"\[ *\d+/\d+\]", "[N/M]"), (r"(block|round) \d+", r"\1 N")),
        (r" · (about|at most) .* left", ""),
        (r"[\d,.]+ good responses/s(, at most \d+ not good|, \d+ not good)?", "N good responses/s"),
        (r"\d+ trials?", "N trials"),
        (r"trials/\d+(/[^ :]+)?", "trials/N/FILE"),
        (r"/\S+/wrk ", "wrk "),
    ):
        line = re.sub(pattern, name, line)
    return line


if __name__ == "__main__":
    sys.stdout.write(HEAD + Path(sys.argv[1]).read_text() + section(kills(KILLS)))
