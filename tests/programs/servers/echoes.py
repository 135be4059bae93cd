"""Answer a POST with its body, and anything else with 405: echoes.py PORT"""

import sys

from wire import answer_each


def answer(method, _, fields, body):
    if method != "POST":
        return 405, b""
    return 200, body, ("Content-Type", fields[b"content-type"].decode())


answer_each(sys.argv[1], answer)
