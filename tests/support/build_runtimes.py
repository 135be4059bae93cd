"""Build the interpreters' environments that the suites name: `build_runtimes.py SUITE...`.

The tests run in networks of their own, in which nothing can be fetched. What cannot be built is
told and left to the tests: some interpreters are on few machines.
"""

import sys
from pathlib import Path

from benchforge.cli.console.say import say
from benchforge.errors import BenchforgeError
from benchforge.parts.registry import Registry
from benchforge.run.trial.context import ground, with_runtimes
from benchforge.suite.cases.parts import distinct_parts
from benchforge.suite.load import load


def main(paths: list[str]) -> None:
    """Build what each scenario needs by itself: one that cannot be built keeps no other from it."""
    for path in map(Path, paths):
        for scenario in load(path, Registry()).scenarios:
            request = load(path, Registry(), only=[scenario])
            parts = [*distinct_parts(request)]
            if not any(getattr(part, "runtime", None) for part in parts):
                continue
            try:
                with_runtimes(ground(request, parts), request, parts, say)
            except BenchforgeError as error:
                say(f"{path} {scenario}: {error.text()}")


if __name__ == "__main__":
    main(sys.argv[1:])
