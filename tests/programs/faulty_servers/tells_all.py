"""A server that keeps nothing to itself: it prints and answers all it is told, in many forms.

Each answer comes after 3 ms: a load leaves the CPUs to others.
"""

import base64, json, os, sys, threading, time
from html import escape
from urllib.parse import quote

sys.path.append(f"{sys.path[0]}/../servers")
from wire import answer_each

actual = [*sys.argv[2:], *(value for name, value in os.environ.items() if name.startswith("T_"))]
lock = threading.Lock()
times = 0


def forms(text):
    yield text
    yield quote(text, safe="")
    yield json.dumps(text)
    yield escape(text)
    for user in ("", "u", "us"):
        yield base64.b64encode(f"{user}:{text}".encode()).decode()


def answer(_, path, fields, body):
    global times
    with lock:
        times += 1
        if times < 40:  # of a load the beginning is enough
            log([path, *(value.decode() for value in fields.values()), body.decode()])
    time.sleep(0.003)
    echo = ("X-Told", quote(actual[0], safe="") if actual else "")
    return 200, json.dumps(actual).encode(), ("Content-Type", "application/json"), echo


def log(texts):
    for text in texts:
        for form in forms(text):
            print(form, flush=True)
            print(form, file=sys.stderr, flush=True)


log(actual)
answer_each(sys.argv[1], answer)
