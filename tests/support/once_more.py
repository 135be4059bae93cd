"""Run the tests that failed beside others once more, alone: `once_more.py CACHE [PREFIX...]`.

Tests of real loads share the machine with other tests, and now and then with strangers. A test that
fails because of that passes alone. A defect fails twice, or it is a race, which the lines above the
second run show: nothing of the first run is hidden. `CACHE` is the folder in which pytest keeps
what failed last; `PREFIX` are the words before pytest. It ends with 0 when all pass.
"""

import json
import subprocess
import sys
from pathlib import Path

MOST = 10  # more failures than that are no accident


def main(cache: Path, prefix: list[str]) -> int:
    """Return the exit code of the second run; 1 when there is none."""
    try:
        failed = list(json.loads((cache / "v/cache/lastfailed").read_text()))
    except (OSError, ValueError):
        failed = []
    if not 0 < len(failed) <= MOST:
        say(f"{len(failed)} tests failed: no second run (1 to {MOST} have it)")
        return 1
    say(f"{len(failed)} tests failed beside others, as shown above. Alone, once more:")
    again = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *failed]
    code = subprocess.run([*prefix, *again], check=False).returncode
    if code == 0:
        say("Each passed alone. It needs more than a loud machine gives, or has a race: mend it.")
        say(*(f"  {name}" for name in failed))
    return code


def say(*lines: str) -> None:
    """Print lines before whatever a process prints next."""
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
