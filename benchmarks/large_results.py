"""Time and memory of reading a result of thousands of trials, which are copies of a real one's.

The trials have numbers, blocks and moments of their own, so that each file agrees with the others
in form. Usage: python -m benchmarks.large_results RESULT TRIALS [FOLDER]; RESULT is a result of a
run, in turns or not, FOLDER is made where it is missing. Prints, for each command, its wall time,
and the largest memory of its processes together.
"""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from datetime import datetime, timedelta
from pathlib import Path

from benchforge.model.files.folder import MANIFEST
from benchforge.model.files.result import Header
from benchforge.model.trial.trial import Trial
from benchforge.run.disk.manifest import manifest_of
from benchforge.run.disk.result_writer import whole

COMMANDS = (
    ("validate",),
    ("verify", "--level", "numbers"),
    ("report", "-o", "-"),
)


def made(source: Path, folder: Path, least: int) -> int:
    """Write a result of at least so many trials; return how many it has."""
    header = json.loads((source / "result.json").read_text())
    block = [planned for planned in header["plan"] if planned["block"] == 1]
    trials = {
        (trial["block"], trial["position"]): (file.parent, trial)
        for file in sorted(source.glob("trials/*/trial.json"))
        if (trial := json.loads(file.read_text()))["block"] == 1
    }
    folder.mkdir(parents=True)
    created = datetime.fromisoformat(header["created"])
    plan, number, moment = [], 0, created
    for block_number in range(1, -(-least // len(block)) + 1):
        for planned in block:
            number += 1
            origin, trial = trials[1, planned["position"]]
            moment += timedelta(seconds=trial["seconds"] + 1)
            plan.append({**planned, "block": block_number})
            turns = trial["turns"]
            if turns is not None:
                later = number - trial["number"]
                turns = {**turns, "trials": [partner + later for partner in turns["trials"]]}
            place = folder / f"trials/{number:04}"
            shutil.copytree(origin, place, copy_function=os.link)
            (place / "trial.json").unlink()
            copy = {**trial, "number": number, "block": block_number, "attempt": 1, "turns": turns}
            copy["started"] = moment.isoformat()
            whole(place, "trial.json", Trial.model_validate_json(json.dumps(copy)))
    header = {**header, "plan": plan, "until": None}
    whole(folder, "result.json", Header.model_validate_json(json.dumps(header)))
    return number


def measured(words: list[str]) -> tuple[float, float, int]:
    """Return seconds, the most MB of a command and its processes together, and its exit code."""
    began, most = time.monotonic(), 0.0
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    ended = threading.Event()

    def look() -> None:
        nonlocal most
        while not ended.wait(0.05):
            most = max(most, _memory_mb(process.pid))

    watching = threading.Thread(target=look)
    watching.start()
    code = process.wait()
    ended.set()
    watching.join()
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return time.monotonic() - began, max(most, most or largest), code


def _memory_mb(pid: int) -> float:
    """Return the memory of a process and all below it, shared pages in parts."""
    total = 0.0
    pids = [pid]
    while pids:
        one = pids.pop()
        try:
            rollup = Path(f"/proc/{one}/smaps_rollup").read_text()
            pids += map(int, Path(f"/proc/{one}/task/{one}/children").read_text().split())
        except OSError:
            continue
        total += next(int(line.split()[1]) for line in rollup.splitlines() if line[:4] == "Pss:")
    return total / 1024


def main(source: Path, least: int, folder: Path | None) -> None:
    """Make the result, and look at it by each command."""
    folder = folder or Path(tempfile.mkdtemp(prefix="benchforge-large-")) / "large"
    program = [sys.executable, "-m", "benchforge"]
    if folder.exists():
        trials = least
    else:
        trials = made(source, folder, least)
        subprocess.run([*program, "report", folder, "--write"], check=True, capture_output=True)
        whole(folder, MANIFEST, manifest_of(folder))
    print(f"{trials} trials in {folder}")
    for command, *options in COMMANDS:
        seconds, memory, code = measured([*program, command, str(folder), *options])
        print(f"{command} {' '.join(options)}: {seconds:.1f} s, {memory:.0f} MB, exit {code}")


if __name__ == "__main__":
    source_, least_, *folder_ = sys.argv[1:]
    main(Path(source_), int(least_), Path(folder_[0]) if folder_ else None)
