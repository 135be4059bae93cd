"""Commits whose answers are wrong, and honest commits: how `benchforge gate` must end on each.

Each is some lines of Python in programs/servers/changes.py, in the base and in the working tree.
`make test` takes every tenth: these are of four kinds.
"""

from collections.abc import Mapping
from pathlib import Path
from textwrap import indent
from typing import NamedTuple

from front_door import PROGRAMS
from repository import git
from suite_texts.files import suite_text

BODY = 'status = 200, content_type = "application/json", body = \'{"items": [1, 2, 3]}\''
PARSED = "status = 200, json = { items = [1, 2, 3] }"
STATUS = "status = 200"
MONITORED = 'interleave = "off"\nmonitor = "100/s"'


class Commit(NamedTuple):
    """A change of the app, and how a gate ends on it."""

    head: str
    "Lines of the working tree."
    says: str = ""
    "Pattern of the first lines: of broken commits, what was answered."
    base: str = ""
    expect: str = BODY
    more: str = ""
    "More lines of the scenario."
    load: str = ""
    "More lines of the load tool."
    request: str = 'path = "PATH"'
    mends: bool = False
    "True if only the base is broken."
    replaces: tuple[str, str] = ("", "")
    "Text of the app, and what the working tree has instead."
    scenarios: tuple[str, ...] = ("items",)


_MADE = 'status, body = "201 Created", b\'{"id": %d}\' % number'
_LINES = 'body, kind = b"Hello\\n" * {}, "text/plain"'

BROKEN: Mapping[str, Commit] = {
    "faster since wrong": Commit("if loaded: body, pause_s = WRONG, 0", "no pool", more=MONITORED),
    "status": Commit('status = "404 Not Found"', "404"),
    "body of equal length": Commit('body = body.replace(b"1", b"7")', "7, 2, 3"),
    "longer body": Commit('body += b"  "', "22 bytes"),
    "empty body": Commit('body = b""', "0 bytes"),
    "content type": Commit('kind = "text/html"', "text/html"),
    "missing items": Commit("body = b'{\"items\": [1, 2]}'", r"\[1, 2\]", expect=PARSED),
    "500 under load": Commit('if loaded: status = "500 Sorry"', "500"),
    "500 to one in twenty": Commit(
        'if loaded and number % 20 == 0: status = "500 Sorry"', "of status 500"
    ),
    "in half of the blocks": Commit(
        "if single and int(1000 * loaded_s) % 2: body = WRONG", "no pool"
    ),
    "every second under load": Commit("if loaded and number % 2: body = WRONG", "no pool"),
    "base alone": Commit("", "no pool", "body = WRONG", mends=True),
    "both": Commit("body = WRONG  # still", "no pool", "body = WRONG"),
    "does not start": Commit("", "exit code 3", replaces=("import time", "raise SystemExit(3)")),
    "from the fiftieth request on": Commit("if number > 50: body = WRONG", "no pool"),
    "late on a connection": Commit("if nth > 20: body = WRONG", "no pool"),
    "one scenario of three": Commit(
        'if path == "/b": body = WRONG', "no pool", scenarios=("a", "b", "c")
    ),
    "one in twenty under load": Commit(
        "if loaded and number % 20 == 0: body = WRONG", "no pool", more=MONITORED
    ),
    "after half a second": Commit(
        "if loaded and time.monotonic() > loaded_s + 0.5: body = WRONG", "no pool"
    ),
    "after the load": Commit("if single and loaded_s: body = WRONG", "no pool"),
}

HONEST: Mapping[str, Commit] = {
    "repairs its base": Commit("", "500", 'status = "500 Sorry"', expect=PARSED, mends=True),
    "equal code": Commit(""),
    "a comment": Commit("# more words"),
    "a renamed function": Commit("", replaces=("answers", "serves")),
    "faster": Commit("pause_s = 0.001"),
    "slightly slower": Commit("pause_s = 0.0022"),
    "much slower": Commit("pause_s = 0.006"),
    "a header": Commit('headers = "X-Request: 7\\r\\n"'),
    "closes each connection": Commit('headers = "Connection: close\\r\\n"'),
    "a parameter of the content type": Commit('kind += "; charset=utf-8"'),
    "ten lines to eleven": Commit(
        _LINES.format(11), "response changed.*Hello", _LINES.format(10), expect=STATUS
    ),
    "ids of requests": Commit("body = b'{\"id\": %d}' % number", expect=STATUS),
    "a timestamp": Commit("body = b'{\"at\": %d}' % time.time_ns()", expect=STATUS),
    "ids that a POST makes": Commit(
        f"{_MADE}  # as ever",
        base=_MADE,
        expect="status = 201",
        request='method = "POST", path = "PATH", body = "{}"',
    ),
    "a log line": Commit("print(method, path, file=sys.stderr)"),
    "another route": Commit('if path == "/more": body = WRONG'),
    "other spaces in JSON": Commit('body = body.replace(b" ", b"")', expect=PARSED),
    "more members in JSON": Commit('body = b\'{"items": [1, 2, 3], "next": 4}\'', expect=PARSED),
    "a body that tells the load": Commit(
        'body = b\'{"items": [1, 2, 3], "connected": %d}\' % connected',
        expect=PARSED,
        load='sample = "20%"',
    ),
    "starts later": Commit("", replaces=("connected = 0\n", "connected = 0\ntime.sleep(0.3)\n")),
}


def outcome_of(name: str) -> str:
    """Return the word for how a gate ends: broken, base broken or honest."""
    commit = {**BROKEN, **HONEST}[name]
    return "base broken" if commit.mends else "broken" if name in BROKEN else "honest"


def planted(folder: Path, commit: Commit) -> Path:
    """Make a repository with the base as its commit, and return the suite in it."""
    app, suite = folder / "app/app.py", folder / "suite.toml"
    app.parent.mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    app.write_text(_app(commit.base))
    suite.write_text(_suite(commit))
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "base")
    app.write_text(_app(commit.head).replace(*commit.replaces))
    return suite


def _app(lines: str) -> str:
    text = (PROGRAMS / "servers/changes.py").read_text()
    return text.replace("    # change\n", indent(f"{lines}\n", "    ") if lines else "")


def _suite(commit: Commit) -> str:
    scenarios = "".join(
        f"""[scenarios.{name}]
request = {{ {commit.request} }}
servers = ["app"]
loaders = ["pace"]
expect = {{ {commit.expect} }}
{commit.more}
""".replace("PATH", f"/{name}")
        for name in commit.scenarios
    )
    return suite_text("support/planted/commits", load=commit.load, scenarios=scenarios)
