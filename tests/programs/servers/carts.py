"""A shop with carts, and a record of them: carts.py PORT LOG [FAULT].

POST /cart makes a cart: its number is in the answer, its key in a header, its owner in a cookie.
GET /cart/NUMBER shows it, and POST /cart/NUMBER/pay pays it. A line of the log has a step, its cart,
and whether it had all that earlier answers gave. FAULT is wrong with carts of each third product.
"""

import json
import sys
import threading
from urllib.parse import parse_qs, unquote

from answerer import Answerer, serve

log = open(sys.argv[2], "a")
fault = sys.argv[3] if len(sys.argv) > 3 else ""
lock = threading.Lock()
carts = {}


class Carts(Answerer):
    def do_POST(self):
        body = self.body().decode()
        if self.path == "/cart":
            self.made(json.loads(body)["product"])
        else:
            _, _, number, _ = self.path.split("/")
            self.paid(unquote(number), body)

    def do_GET(self):
        number = unquote(self.path.removeprefix("/cart/"))
        cart = carts.get(number, {})
        right = cart and self.headers.get("X-Key") == cart["key"] and self.owner() == cart["owner"]
        self.say("shown", number, right)
        document = {"next": f"{self.path}/pay", "note": cart.get("note")}
        self.answer(200 if right else 403, document)

    def made(self, product):
        with lock:
            count = len(carts) + 1
            number = f"{count}-ä {product}"
            note = f'"{count}" & {{{count}}}'
            cart = {"key": f"key-{count}", "owner": f"owner-{count}", "note": note}
            carts[number] = cart
            wrong = fault if product % 3 == 0 else ""
        self.say("made", number, True)
        if wrong == "close":
            self.close_connection = True
            return
        document = {"cart": {"number": number, "count": count}}
        status = 500 if wrong == "status" else 201
        if wrong in WRONG:
            document["cart"]["number"] = WRONG[wrong]
        if wrong == "missing":
            document = {}
        elif wrong == "text":
            document = None
        self.answer(status, document, cart["key"], cart["owner"])

    def paid(self, number, body):
        cart = carts.get(number, {})
        form = parse_qs(body, keep_blank_values=True)
        wanted = {"note": [cart.get("note")], "count": [number.partition("-")[0]], "card": ["1"]}
        self.say("paid", number, cart and form == wanted and self.owner() == cart["owner"])
        self.answer(200, {"paid": number})

    def owner(self):
        pairs = (item.partition("=") for item in self.headers.get("Cookie", "").split("; "))
        return {name: value for name, _, value in pairs}.get("owner")

    def say(self, step, number, right):
        with lock:
            log.write(json.dumps([step, number, bool(right)]) + "\n")
            log.flush()

    def answer(self, status, document, key=None, owner=None):
        body = b"no JSON" if document is None else json.dumps(document).encode()
        secrets = [("X-Key", key), ("Set-Cookie", f"owner={owner}; Path=/; HttpOnly")]
        kind = ("Content-Type", "application/json")
        self.send(status, body, [*(secrets if key is not None else []), kind])


WRONG = {
    "lines": "1\r\nX-Injected: yes",
    "long": "x" * (1 << 20),
    "longer": "x" * 5000,
    "type": {"a": 1},
    "true": True,
}


serve(sys.argv[1], Carts)
