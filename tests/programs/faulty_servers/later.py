"""An honest answer with one fault that turns, or a watch of the load alone, do not see.

later.py PORT FAULT [ADDRESS]. After the answer: `thread` computes WORK_S for each answer in a thread
of the lowest priority, `tail:SECONDS` that many seconds after the last answer, `daemon` in a process
that left its group, session and parent, `child` in one that it forks then, `pipe:PATH` has somebody
else compute who reads there. While it answers: `sleep:MS` waits for so long, `lock:MS` too, one answer
after the other, `bucket:RATE` answers so many a second at most, `statuses` answers 203 and 206 in turn
to several connections. It ends after two minutes.
"""

import asyncio, os, sys, threading, time

sys.path.append(f"{sys.path[0]}/../servers")
from wire import limit

PORT, (FAULT, _, OPTION) = int(sys.argv[1]), sys.argv[2].partition(":")
WORK_S, MOST_S = 0.001, 1.5
SEVERAL = 4  # connections
ADDRESS = sys.argv[3] if sys.argv[3:] else "127.0.0.1"
BODY = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\npong"
pending, latest_s, connected = 0, time.monotonic(), 0
lock = asyncio.Lock()
due_s = time.monotonic()


def compute(seconds: float) -> None:
    until_s = time.thread_time() + seconds
    while time.thread_time() < until_s:
        pass


def work_behind() -> None:
    """Work for each answer once no other has come for a while, for MOST_S at most in all."""
    global pending
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    worked_s = 0.0
    while worked_s < MOST_S:
        time.sleep(0.01)
        if pending and time.monotonic() > latest_s + 0.05:
            pending, worked_s = pending - 1, worked_s + WORK_S
            compute(WORK_S)


def work_later() -> None:
    """Work once, so long after the last answer; in a child of its own where that is the fault."""
    while not pending or time.monotonic() < latest_s + float(OPTION or 0.05):
        time.sleep(0.01)
    if FAULT != "child":
        compute(MOST_S)
    elif not os.fork():
        compute(MOST_S)
        os._exit(0)
    else:
        os.wait()


def leave(pipe: int) -> None:
    """Become a daemon that computes for each byte of a pipe, in a session of its own."""
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    worked_s = 0.0
    while worked_s < MOST_S and (count := len(os.read(pipe, 65536))):
        time.sleep(0.3)
        worked_s += WORK_S * count
        compute(min(MOST_S, WORK_S * count))
    os._exit(0)


class Answers(asyncio.Protocol):
    """One connection."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        global connected
        self.transport, connected = transport, connected + 1

    def connection_lost(self, _: Exception | None) -> None:
        global connected
        connected -= 1

    def data_received(self, request: bytes) -> None:
        global due_s
        if FAULT == "sleep":
            asyncio.get_running_loop().call_later(float(OPTION) / 1000, self.answer)
        elif FAULT == "bucket":
            now_s = time.monotonic()
            due_s = max(due_s + 1 / float(OPTION), now_s - 0.2)
            asyncio.get_running_loop().call_later(max(0.0, due_s - now_s), self.answer)
        elif FAULT == "lock":
            asyncio.ensure_future(self.answer_locked())
        else:
            self.answer()

    async def answer_locked(self) -> None:
        async with lock:
            await asyncio.sleep(float(OPTION) / 1000)
        self.answer()

    def answer(self) -> None:
        global pending, latest_s
        pending, latest_s = pending + 1, time.monotonic()
        if FAULT in {"daemon", "pipe"}:
            os.write(outside, b"!")
        compute(0.0002 if FAULT == "none" else 0.0)
        status = b"203" if pending % 2 else b"206"
        lies = FAULT == "statuses" and connected >= SEVERAL
        self.transport.write(BODY.replace(b"200", status) if lies else BODY)


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(Answers, ADDRESS, PORT)
    await server.serve_forever()


if FAULT == "daemon":
    inside, outside = os.pipe2(os.O_NONBLOCK * 0)
    leave(inside)
elif FAULT == "pipe":
    outside = os.open(OPTION, os.O_WRONLY)
limit(120)
if FAULT in {"thread", "tail", "child"}:
    threading.Thread(target=work_behind if FAULT == "thread" else work_later, daemon=True).start()
asyncio.run(serve())
