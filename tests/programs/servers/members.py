"""Serves members only: members.py PORT LOG. POST /login gives a cookie and a token; a page wants both.

A line of the log has the name of a member for each page, or what is wrong with the request.
"""

import json, sys, threading, time
from urllib.parse import parse_qs

from wire import answer_each

log = open(sys.argv[2], "a")
lock = threading.Lock()
members = {}  # the token and the name of each session


def answer(method, path, fields, body):
    if method == "POST":
        return logged_in(parse_qs(body.decode()))
    pairs = fields.get(b"cookie", b"=").decode().split("; ")
    cookies = dict(item.split("=") for item in pairs)
    token, name = members.get(cookies.get("session"), ("", ""))
    right = token and fields.get(b"x-token", b"").decode() == token and path == f"/of/{name}"
    with lock:
        log.write(f"{name if right else repr(path)}\n")
        log.flush()
    time.sleep(0.01)  # a load then leaves the CPUs to other tests
    return says(200 if right and cookies["theme"] == "dark" else 403, {"name": name})


def logged_in(form):
    name = form["name"][0]
    with lock:
        number = len(members) + 1
        members[f"session-{number}"] = f"token-{number}", name
    status = 200 if form["password"] == [f"of {name}"] else 403
    session = f"session=session-{number}; Expires=Wed, 21 Oct 2037 07:28:00 GMT; Path=/; HttpOnly"
    return says(status, {"user": {"token": f"token-{number}"}}, session, "theme=dark")


def says(status, document, *cookies):
    headers = (("Set-Cookie", cookie) for cookie in cookies)
    return status, json.dumps(document).encode(), *headers, ("Content-Type", "application/json")


answer_each(sys.argv[1], answer)
