"""Print every phrase that the style forbids; exit with 1 if there is one."""

import sys

from docs.style.linter import faults, texts


def main() -> int:
    """Return the exit code."""
    lines = list(faults(texts()))
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
