"""Print seed, start and CPUs of this process, then serve as answers.py does. says_who.py ARG..."""

import json, os, sys
from pathlib import Path

stat = Path("/proc/self/stat").read_text()
actual = {
    "seed": os.environ.get("PYTHONHASHSEED"),
    "hash": hash("benchforge"),
    "started": int(stat[stat.rindex(")") + 2 :].split()[19]),
    "cpus": sorted(os.sched_getaffinity(0)),
}
print(json.dumps(actual), flush=True)
os.execv(sys.executable, [sys.executable, str(Path(__file__).parent / "answers.py"), *sys.argv[1:]])
