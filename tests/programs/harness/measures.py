"""The benchforge side: start hostile programs in a trial, say who runs, and wait for a signal.

measures.py FOLDER PROGRAM...: prints {"outer", "init"}, once all are ready. With `--loop` instead
of programs: enter and leave trials without end.
"""

import json, os, sys, time
from pathlib import Path
from benchforge.parts.command import Command
from benchforge.run.sandbox.host import LocalHost

PROCESSES = Path(__file__).parents[1] / "processes"
folder, names = Path(sys.argv[1]), sys.argv[2:]
while names == ["--loop"]:
    with LocalHost().trial(folder) as here:
        here.start("sleeps", Command("sleep", "1000"), folder, {"TOKEN": os.environ["TOKEN"]})
with LocalHost().trial(folder) as here:
    running = []
    for name in names:
        ready = folder / f"{name}.ready"
        command = Command(sys.executable, PROCESSES / f"{name}.py", ready)
        running.append(here.start(name, command, folder, {"TOKEN": os.environ["TOKEN"]}))
        while not ready.exists():
            time.sleep(0.005)
    stat = Path(f"/proc/{here.init_pid}/stat").read_text()
    outer = int(stat.rpartition(")")[2].split()[1])
    try:
        print(
            json.dumps(
                {
                    "outer": outer,
                    "init": here.init_pid,
                    "mode": here.mode.pid_namespace,
                    "weaker": here.mode.weaker,
                }
            ),
            flush=True,
        )
        time.sleep(60)
    except KeyboardInterrupt:
        print(json.dumps([here.alive(one) for one in running]), flush=True)
