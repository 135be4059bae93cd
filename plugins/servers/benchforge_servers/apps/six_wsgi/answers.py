"""Six kinds of requests: what the answers have in common, whatever the interface of the server."""

import json
import os
import random
from html import escape

POOL_SIZE = int(os.environ.get("SIX_POOL_SIZE", "10"))
HIGHEST, MOST = 10_000, 500
LINE = "<li>{}: {}</li>"
PAGE = "<!doctype html><title>Proverbs</title><ul>{}</ul>"


def message():
    return as_json({"greeting": "Good morning"})


def plain():
    return "text/plain", b"Good morning"


def page(pairs):
    """Return a page of proverbs, with one more."""
    pairs = sorted([*pairs, (0, "Better late than never.")], key=lambda pair: pair[1])
    lines = [LINE.format(number, escape(words)) for number, words in pairs]
    return "text/html; charset=utf-8", PAGE.format("".join(lines)).encode()


def drawn(count):
    return sorted(random.sample(range(1, HIGHEST + 1), min(max(1, count), MOST)))


def value():
    return random.randint(1, HIGHEST)  # noqa: S311


def as_json(content):
    return "application/json", json.dumps(content).encode()


FIXED = {"json": message, "plain": plain}
