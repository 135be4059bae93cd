"""The benchforge side: start hostile programs in a trial, say who runs, and wait for a signal.

measures.py FOLDER PROGRAM...: prints {"init", "outer"}, once all are ready. With `--loop` instead
of programs: enter and leave trials without end. With `--many` before them: fork the keepers.
"""

import contextlib, json, sys, time
from pathlib import Path
from benchforge.parts.command import Command
from benchforge.run.sandbox.host import LocalHost

PROCESSES = Path(__file__).parents[1] / "processes"
folder, names = Path(sys.argv[1]), sys.argv[2:]
host, stack = LocalHost(), contextlib.ExitStack()
if names[:1] == ["--many"]:
    stack.enter_context(host.many())
    names = names[1:]
while names == ["--loop"]:
    with host.trial(folder) as sandbox:
        sandbox.start("sleeps", Command("sleep", "1000"), folder, {})
with stack, host.trial(folder) as sandbox:
    running = []
    for name in names:
        ready = folder / f"{name}.ready"
        command = Command(sys.executable, PROCESSES / f"{name}.py", ready)
        running.append(sandbox.start(name, command, folder, {}))
        while not ready.exists():
            time.sleep(0.005)
    parents = [sandbox.init_pid]
    for _ in range(2):
        stat = Path(f"/proc/{parents[-1]}/stat").read_text()
        parents.append(int(stat.rpartition(")")[2].split()[1]))
    try:
        pids = dict(zip(("init", "outer", "forks"), parents))
        mode = {"mode": sandbox.mode.pid_namespace, "weaker": sandbox.mode.weaker}
        print(json.dumps({**pids, **mode}), flush=True)
        time.sleep(60)
    except KeyboardInterrupt:
        print(json.dumps([sandbox.alive(item) for item in running]), flush=True)
