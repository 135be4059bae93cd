"""A shop with carts, and a record of them: carts.py PORT LOG [FAULT].

POST /cart makes a cart: its number is in the answer, its key in a header, its owner in a cookie.
GET /cart/NUMBER shows it, and POST /cart/NUMBER/pay pays it. A line of the log has a step, its cart,
and whether it had all that earlier answers gave. FAULT is wrong with carts of each third product.
"""

import json, sys, threading
from urllib.parse import parse_qs, unquote

from wire import answer_each

log = open(sys.argv[2], "a")
fault = sys.argv[3] if len(sys.argv) > 3 else ""
lock = threading.Lock()
carts = {}


WRONG = {
    "lines": "1\r\nX-Injected: yes",
    "long": "x" * (1 << 20),
    "longer": "x" * 5000,
    "type": {"a": 1},
    "true": True,
}


def answer(method, path, fields, body):
    if path == "/cart":
        return made(json.loads(body)["product"])
    number = unquote(path.removeprefix("/cart/").removesuffix("/pay"))
    cart = carts.get(number, {})
    pairs = (item.partition("=") for item in fields.get(b"cookie", b"").decode().split("; "))
    owns = cart and {name: value for name, _, value in pairs}.get("owner") == cart["owner"]
    if method == "POST":
        form = parse_qs(body.decode(), keep_blank_values=True)
        wanted = {"note": [cart.get("note")], "count": [number.partition("-")[0]], "card": ["1"]}
        say("paid", number, owns and form == wanted)
        return says(200, {"paid": number})
    right = owns and fields.get(b"x-key", b"").decode() == cart["key"]
    say("shown", number, right)
    return says(200 if right else 403, {"next": f"{path}/pay", "note": cart.get("note")})


def made(product):
    with lock:
        count = len(carts) + 1
        number = f"{count}-ä {product}"
        note = f'"{count}" & {{{count}}}'
        carts[number] = cart = {"key": f"key-{count}", "owner": f"owner-{count}", "note": note}
    wrong = fault if product % 3 == 0 else ""
    say("made", number, True)
    if wrong == "close":
        return None
    document = {"cart": {"number": WRONG.get(wrong, number), "count": count}}
    if wrong == "missing":
        document = {}
    elif wrong == "text":
        document = None
    secrets = ("X-Key", cart["key"]), ("Set-Cookie", f"owner={cart['owner']}; Path=/; HttpOnly")
    return says(500 if wrong == "status" else 201, document, *secrets)


def say(step, number, right):
    with lock:
        log.write(json.dumps([step, number, bool(right)]) + "\n")
        log.flush()


def says(status, document, *headers):
    body = b"no JSON" if document is None else json.dumps(document).encode()
    return status, body, *headers, ("Content-Type", "application/json")


answer_each(sys.argv[1], answer)
