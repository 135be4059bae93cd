"""A server for turns with one fault: frozen.py PORT FAULT [FILE]. A response waits, and computes
nothing. With a FILE it has the fault only until that file is there, and makes it.

The fault `wakes` goes on although it was stopped, by a timer whose signal is SIGCONT, and computes
then. The fault `/PATH/PIPE` lets a process outside of the trial work: it writes to that pipe in
each response. It ends by itself after two minutes.
"""

import ctypes, os, signal, socket, struct, sys, threading, time

sys.path.append(f"{sys.path[0]}/../servers")
from wire import as_wanted, limit, listen, requests, served

PORT, FAULT = int(sys.argv[1]), sys.argv[2]
WORK_S, LATE_S, SLOW_S, COLD_S = 0.004, 0.03, 0.1, 0.1
IDLE_S, WAKES_S = 0.03, 0.05
BEGINS_AFTER = 600  # answers: the first slices see a sound server
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\npong"
answered, latest_s = 0, time.monotonic()
cold = 0
free = threading.Event()
free.set()


def waits(seconds: float) -> None:
    """Wait in small steps, of which one at most passes while all stand still."""
    for _ in range(round(seconds * 1000)):
        time.sleep(0.001)


def answer(connection: socket.socket) -> None:
    global answered, latest_s, cold
    for line, fields, _ in requests(connection):
        free.wait()
        answered += 1
        now_s = time.monotonic()
        if FAULT == "cold" and now_s - latest_s > COLD_S:
            cold = 100  # responses that take longer
        latest_s, cold = now_s, max(0, cold - 1)
        grown = answered / 500 if FAULT == "grows" else 0
        usual_s = {"late": LATE_S, "slow": SLOW_S}.get(FAULT, WORK_S)
        if outside is not None:
            os.write(outside, b"!")
        time.sleep(usual_s * (1 + grown) * (3 if cold else 1))
        wanted, keeps = as_wanted(ANSWER, line, fields)
        connection.sendall(wanted)
        if not keeps:
            break


def by_the_clock(rests_s: float, stands_s: float) -> None:
    """Answer nothing for a while, again and again: the rest is by the wall's clock."""
    while answered < BEGINS_AFTER:
        time.sleep(0.001)
    while True:
        time.sleep(rests_s)
        free.clear()
        waits(stands_s)
        free.set()


def wakes_itself() -> None:
    """Compute once no request has come for a while, and let a timer of the kernel continue us.

    Its signal is SIGCONT: it continues a process that is stopped.
    """
    libc, timer = ctypes.CDLL(None), ctypes.c_void_p()
    event = struct.pack("qii48x", 0, signal.SIGCONT, 0)
    assert libc.timer_create(time.CLOCK_MONOTONIC, event, ctypes.byref(timer)) == 0
    while True:
        time.sleep(0.005)
        now_s = time.monotonic()
        if now_s < latest_s + IDLE_S:
            libc.timer_settime(timer, 0, struct.pack("4q", 0, 0, 0, round(WAKES_S * 1e9)), None)
        while latest_s + IDLE_S < now_s and time.monotonic() < now_s + 0.02:
            pass


outside = os.open(FAULT, os.O_WRONLY) if FAULT.startswith("/") else None
if len(sys.argv) > 3:
    FAULT = "none" if os.path.exists(sys.argv[3]) else FAULT
    open(sys.argv[3], "w").close()
limit(120)
if FAULT == "wakes":
    signal.signal(signal.SIGCONT, lambda *_: None)
    threading.Thread(target=wakes_itself, daemon=True).start()
if FAULT in {"timer", "stands"}:
    args = (0.1, 0.05) if FAULT == "timer" else (0.5, 0.25)
    threading.Thread(target=by_the_clock, args=args, daemon=True).start()
server = socket.create_server(("127.0.0.1", PORT), backlog=1 if FAULT == "queue" else 1024)
while FAULT == "queue":  # the others wait outside, and the kernel sends what opens them again
    served(server.accept()[0], answer)
listen(server, answer)
