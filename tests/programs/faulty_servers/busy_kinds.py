"""A shop that is wrong about kinds of requests while it is loaded: busy_kinds.py PORT FAULT.

GET /items/N shows an item, POST /carts makes a cart, and POST /carts/N/pay pays it. With three
connections or more, what FAULT names (item, add or pay; none for nothing) has a wrong body, as long
as the right one. It answers after some milliseconds, and ends by itself after two minutes.
"""

import itertools, json, sys, time

sys.path.append(f"{sys.path[0]}/../servers")
from wire import answer_each, connections, limit

FAULT, SEVERAL = sys.argv[2], 3
carts = itertools.count(100)


def answer(method, path, *_):
    number = path.split("/")[2:]
    if method == "GET":
        kind, status, key, number = "item", 200, "item", int(number[0])
    elif path == "/carts":
        kind, status, key, number = "add", 201, "cart", next(carts)
    else:
        kind, status, key, number = "pay", 200, "paid", int(number[0])
    time.sleep(0.003)
    wrong = kind == FAULT and len(connections) >= SEVERAL
    body = json.dumps({key[::-1] if wrong else key: number}).encode()
    return status, body, ("Content-Type", "application/json")


limit(120)
answer_each(sys.argv[1], answer)
