"""What it takes to read a result: CPU time and peak memory of each command, in one session.

    .venv/bin/python benchmarks/reads.py RESULT [TRIALS]

RESULT is the folder of a complete result without a search. With TRIALS, a larger one of so many
trials is made from it first: each is a copy with its place in a longer plan. Copies share their
checks, of which measured trials share half: these take about 23 KB more memory each. Each command
runs in turn, ROUNDS times; shown is the fastest, also as a multiple of `import pydantic` in a
process of its own: only these multiples can be compared with those of another session.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from benchforge.graph import steps
from benchforge.model.files.folder import MANIFEST
from benchforge.run.disk.manifest import manifest_of
from benchforge.run.disk.result_writer import whole

ROUNDS = 3
BENCHFORGE = [sys.executable, "-m", "benchforge"]
IMPORT = "import pydantic"


def main() -> None:
    """Measure and print; judge nothing."""
    source = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        result = source
        if sys.argv[2:]:
            result = Path(name) / "larger"
            enlarge(source, result, int(sys.argv[2]))
        trials = sum(1 for _ in result.glob("trials/*/trial.json"))
        commands = {
            IMPORT: [sys.executable, "-c", IMPORT],
            "--help": [*BENCHFORGE, "--help"],
            "plugins list": [*BENCHFORGE, "plugins", "list"],
            "schema": [*BENCHFORGE, "schema"],
            "report": [*BENCHFORGE, "report", str(result)],
            "validate": [*BENCHFORGE, "validate", str(result)],
            "verify": [*BENCHFORGE, "verify", str(result)],
        }
        seconds: dict[str, float] = dict.fromkeys(commands, float("inf"))
        peak_mb: dict[str, float] = {}
        for _ in range(ROUNDS):
            for command, words in commands.items():
                took_s, peak_mb[command] = used(words)
                seconds[command] = min(seconds[command], took_s)
    print(f"a result of {trials} trials; CPU time, the fastest of {ROUNDS} rounds")
    for command, took_s in seconds.items():
        ratio = took_s / seconds[IMPORT]
        print(f"{took_s:8.2f} s  {ratio:6.1f}  {peak_mb[command]:6.0f} MB  {command}")


def used(words: list[str]) -> tuple[float, float]:
    """Return the seconds of CPU and the megabytes that a command takes."""
    with Path(os.devnull).open("w") as nowhere:
        process = subprocess.Popen(words, stdout=nowhere, stderr=nowhere)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(words)} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def enlarge(source: Path, result: Path, trials: int) -> None:
    """Make a result of at least so many trials: the source's, over and over."""
    header = json.loads((source / "result.json").read_text())
    per_block = len(header["cases"])
    blocks = -(-trials // per_block)
    scenarios = [case["scenario"] for case in header["cases"]]
    sizes = [scenarios.count(name) for name in dict.fromkeys(scenarios)]
    declared = {json.dumps(one["case"]): one["declared_s"] for one in header["plan"]}
    header["plan"] = [
        {
            "block": step.block,
            "position": step.position,
            "case": header["cases"][step.number],
            "seed": step.seed,
            "declared_s": declared[json.dumps(header["cases"][step.number])],
        }
        for step in steps(sizes, [blocks] * len(sizes), header["seed"])
    ]
    kept: dict[str, list[tuple[Path, dict[str, Any]]]] = defaultdict(list)
    for file in sorted(source.glob("trials/*/trial.json")):
        trial = json.loads(file.read_text())
        kept[json.dumps(trial["case"])].append((file.parent, trial))
    result.mkdir()
    (result / "result.json").write_bytes(_as_written(header))
    began = datetime.fromisoformat(header["created"])
    for number, planned in enumerate(header["plan"], 1):
        of_case = kept[json.dumps(planned["case"])]
        folder, trial = of_case[planned["block"] % len(of_case)]
        began += timedelta(seconds=trial["seconds"] + 0.1)
        place = {name: planned[name] for name in ("block", "position", "seed")}
        trial |= {"number": number, "attempt": 1, **place}
        trial["started"] = began.isoformat().replace("+00:00", "Z")
        into = result / f"trials/{number:04}"
        shutil.copytree(folder, into)
        (into / "trial.json").write_bytes(_as_written(trial))
    subprocess.run([*BENCHFORGE, "report", str(result)], capture_output=True, check=True)
    whole(result, MANIFEST, manifest_of(result))


def _as_written(document: dict[str, Any]) -> bytes:
    """Return a file as benchforge writes it, byte for byte: other files take longer to read."""
    return to_json(document, indent=1) + b"\n"


if __name__ == "__main__":
    main()
