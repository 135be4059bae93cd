"""A shop that is wrong about kinds of requests while it is loaded: busy_kinds.py PORT FAULT.

GET /items/N shows an item, POST /carts makes a cart, and POST /carts/N/pay pays it. With three
connections or more, what FAULT names (item, add or pay; none for nothing) has a wrong body, as long
as the right one. It answers after some milliseconds, and ends by itself after two minutes.
"""

import itertools, json, os, sys, threading, time

sys.path.append(f"{sys.path[0]}/../servers")
from answerer import Answerer, serve

FAULT, SEVERAL = sys.argv[2], 3
carts, lock, open_now = itertools.count(100), threading.Lock(), 0


class Shop(Answerer):
    def setup(self):
        global open_now
        super().setup()
        with lock:
            open_now += 1

    def finish(self):
        global open_now
        with lock:
            open_now -= 1
        super().finish()

    def do_GET(self):
        self.answer("item", 200, "item", int(self.path.rpartition("/")[2]))

    def do_POST(self):
        self.body()
        if self.path == "/carts":
            self.answer("add", 201, "cart", next(carts))
        else:
            self.answer("pay", 200, "paid", int(self.path.split("/")[2]))

    def answer(self, kind, status, key, number):
        time.sleep(0.003)
        wrong = kind == FAULT and open_now >= SEVERAL
        name = key[::-1] if wrong else key
        body = json.dumps({name: number}).encode()
        self.send(status, body, [("Content-Type", "application/json")])


threading.Timer(120, os._exit, [0]).start()
serve(sys.argv[1], Shop)
