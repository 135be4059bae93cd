"""Serves members only: members.py PORT LOG. POST /login gives a cookie and a token; a page wants both.

A line of the log has the name of a member for each page, or what is wrong with the request.
"""

import json
import sys
import threading
import time
from urllib.parse import parse_qs

from answerer import Answerer, serve

log = open(sys.argv[2], "a")
lock = threading.Lock()
members = {}  # the token and the name of each session


class Members(Answerer):
    def do_POST(self):
        form = parse_qs(self.body().decode())
        name = form["name"][0]
        with lock:
            number = len(members) + 1
            members[f"session-{number}"] = f"token-{number}", name
        status = 200 if form["password"] == [f"of {name}"] else 403
        cookies = [
            f"session=session-{number}; Expires=Wed, 21 Oct 2037 07:28:00 GMT; Path=/; HttpOnly",
            "theme=dark",
        ]
        self.answer(status, {"user": {"token": f"token-{number}"}}, cookies)

    def do_GET(self):
        cookies = dict(item.split("=") for item in self.headers.get("Cookie", "=").split("; "))
        token, name = members.get(cookies.get("session"), ("", ""))
        right = token and self.headers.get("X-Token") == token and self.path == f"/of/{name}"
        with lock:
            log.write(f"{name if right else repr(self.path)}\n")
            log.flush()
        time.sleep(0.01)  # a load then leaves the CPUs to other tests
        self.answer(200 if right and cookies["theme"] == "dark" else 403, {"name": name})

    def answer(self, status, document, cookies=()):
        headers = [*(("Set-Cookie", cookie) for cookie in cookies)]
        headers += [("Content-Type", "application/json")]
        self.send(status, json.dumps(document).encode(), headers)


serve(sys.argv[1], Members)
