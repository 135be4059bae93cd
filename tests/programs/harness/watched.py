"""Run a command and see what it leaves: all that it started, however far it got away, is ours.

watched.py REPORT WORD...: the pid is written to REPORT.pid; once the command ended, REPORT has what
still ran twenty seconds later, which is ended then. The exit code is the command's. As a fork of
what has imported benchforge (tests/support/warm.py) it forks, and the words are benchforge's.
"""

import atexit, ctypes, json, os, signal, subprocess, sys, time

PR_SET_CHILD_SUBREAPER, WITHIN_S = 36, 60.0
report, words = sys.argv[1], sys.argv[2:]
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # orphans become our children


def below():
    children = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] not in "ZX":
            children.setdefault(int(fields[1]), []).append(int(name))
    actual = children.get(os.getpid(), [])
    for pid in actual:
        actual += children.get(pid, [])
    return actual


def line(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)  # they are for the command, which takes them again


def hears():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


processes = []


def started():
    if "preloaded" not in sys.modules:
        # Without a name for it, it waits for it as it goes.
        processes.append(subprocess.Popen(words, preexec_fn=hears))
        return processes[0].pid
    if pid := os.fork():
        return pid
    hears()
    sys.argv[:] = ["benchforge", *words]
    from benchforge.__main__ import main

    try:
        main()
    finally:
        atexit._run_exitfuncs()  # a fork ends without them


pid = started()
with open(f"{report}.pid~", "w") as file:
    file.write(str(pid))
os.rename(f"{report}.pid~", f"{report}.pid")
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
ended = time.monotonic()
while (rest := below()) and time.monotonic() - ended < WITHIN_S:
    time.sleep(0.01)
seconds = time.monotonic() - ended
actual = [item for item in map(line, rest) if item]
while rest := below():
    for pid in rest:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
with open(f"{report}~", "w") as file:
    json.dump({"left": actual, "seconds": seconds}, file)
os.rename(f"{report}~", report)
os._exit(code if code >= 0 else 128 - code)
