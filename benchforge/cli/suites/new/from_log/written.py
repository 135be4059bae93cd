"""Suites of access logs, and the files with the values of their requests."""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from itertools import groupby
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote_plus

from benchforge.cli.suites.new.from_log.kinds import HOLE, AccessLog, LogKind
from benchforge.text import safe
from benchforge.text.readable import counted, exact, figure, percent

DURATION_S = 10
CONNECTIONS = 50
"waitress takes 100 at most by default."
_LOWEST = 120  # /s, since p99 needs 1,000 responses
_STEPS = 10  # of 10 s: the interval is about 3 % to each side, in four minutes

OWN = "CHANGE-ME"
"Placeholder of a value that the files must not have."
_MOST_KEYS = 6
_OFTEN = 0.5  # of a kind's requests: keys of a query that fewer have are left out
_LOGIN = re.compile(
    r"(?<![a-z])(?:(?:log|sign)[-_.]?in|o?auth|authenticate|tokens?|sessions?)(?![a-z])",
    re.IGNORECASE,
)
"Words in the last part of a path that logs users in."


class _Place(NamedTuple):
    """A value of a request: in the path, or of a key of the query."""

    name: str
    number: int | None
    key: str


class _Written(NamedTuple):
    """A kind with its label, and the columns of its feed."""

    label: str
    kind: LogKind
    places: Sequence[_Place]
    rows: Sequence[Sequence[str]]


def texts(log: AccessLog, source: Path, suite: Path) -> dict[Path, str]:
    """Return the text of each file: the suite, and a CSV for each kind with values."""
    kinds = list(_labelled(log))
    files = {suite: "\n".join(_suite(log, kinds, source)) + "\n"}
    for mixed in kinds:
        if mixed.rows:
            text = io.StringIO()
            writer = csv.writer(text, lineterminator="\n")
            writer.writerows([[varying.name for varying in mixed.places], *mixed.rows])
            files[suite.with_name(f"{mixed.label}.csv")] = text.getvalue()
    return files


def _columns(files: Mapping[Path, str]) -> Iterator[tuple[str, str, Sequence[str]]]:
    for path, text in files.items():
        if path.suffix == ".csv":
            for head, *values in zip(*csv.reader(io.StringIO(text)), strict=True):
                yield head, path.name, values


def to_fill(files: Mapping[Path, str]) -> list[str]:
    """Return the columns with values to be filled in, by file."""
    columns = [(file, head) for head, file, values in _columns(files) if values[0] == OWN]
    by_file = groupby(columns, key=lambda column: column[0])
    return [f"{file} ({', '.join(head for _, head in group)})" for file, group in by_file]


def from_log(log: AccessLog, files: Mapping[Path, str]) -> Iterator[str]:
    """Yield each path of the mix, and each column of values, that the files have of the log."""
    for mixed in _labelled(log):
        if mixed.kind.method == "GET":
            yield f"{_path(mixed)}, {counted(mixed.kind.requests, 'request')}"
    for head, file, values in _columns(files):
        if values[0] != OWN:
            yield f"{head} in {file}, {counted(len({*values}), 'different value')}"


def formulas(files: Mapping[Path, str]) -> Iterator[str]:
    """Yield the cells that a spreadsheet would run, by column, with the first of their lines."""
    for head, file, values in _columns(files):
        lines = [str(line) for line, value in enumerate(values, 2) if value[:1] in {*"=+-@"}]
        if lines:
            more = f" and {exact(len(lines) - 3)} more" if lines[3:] else ""
            yield f"{head} in {file}, line{'s' * (len(lines) > 1)} {', '.join(lines[:3])}{more}"


def incomplete(log: AccessLog) -> Iterator[str]:
    """Yield method, path, number and share of each kind that lacks its body."""
    of_all = log.taken + sum(kind.requests for kind in log.incomplete)
    for mixed in _labelled(log):
        number = mixed.kind.requests
        if mixed.kind.method != "GET":
            size = f"{counted(number, 'request')}, {percent(number / of_all)}"
            yield f"{mixed.kind.method} {_path(mixed)}: {size}"


def _labelled(log: AccessLog) -> Iterator[_Written]:
    used: set[str] = set()
    for kind in (*log.kinds, *log.incomplete):
        words = [re.sub(r"\W+", "_", part).strip("_").lower() for part in kind.pattern]
        words = [word for word in words if word][:3]
        stem = "_".join(words) or ("home" if kind.pattern == ("",) else "page")
        stem += "_item" if kind.pattern[-1].startswith(HOLE) and words else ""
        stem = f"k{stem}" if stem[0].isdigit() else stem
        stem += f"_{kind.method.lower()}" * (kind.method != "GET")
        label = next(free for n in range(1, 99) if (free := stem + (f"_{n}" * (n > 1))) not in used)
        used.add(label)
        places = _places(log, kind)
        yield _Written(label, kind, places, _rows(log, kind, places) if places else ())


def _places(log: AccessLog, kind: LogKind) -> list[_Place]:
    count = sum(part.startswith(HOLE) for part in kind.pattern)
    names = ["id", *(f"id{n}" for n in range(2, count + 1))][:count]
    places = [_Place(name, number, "") for number, name in enumerate(names)]
    often = [key for key, n in kind.keys.most_common() if n >= _OFTEN * kind.requests]
    for key in [key for key in often if key in log.shared][:_MOST_KEYS]:
        name = re.sub(r"\W+", "_", key, flags=re.ASCII).strip("_").lower() or "value"
        while name in {varying.name for varying in places}:
            name += "_"
        places.append(_Place(name, None, key))
    return places


def _rows(log: AccessLog, kind: LogKind, places: Sequence[_Place]) -> list[list[str]]:
    """Return the sampled values that may be kept; OWN for a column that keeps less than half."""
    rows = [
        [query.get(p.key, "") if p.number is None else values[p.number] for p in places]
        for values, query in kind.rows
    ]
    sound = [[log.keeps(p.key, text) for p, text in zip(places, row, strict=True)] for row in rows]
    has_values = [2 * sum(column) < len(rows) for column in zip(*sound, strict=True)]
    if all(has_values):
        return [[OWN] * len(places)]
    return [
        [OWN if mine else value for mine, value in zip(has_values, row, strict=True)]
        for row, keeps in zip(rows, sound, strict=True)
        if all(mine or keeps_value for mine, keeps_value in zip(has_values, keeps, strict=True))
    ] or [[OWN] * len(places)]


def _suite(log: AccessLog, kinds: Sequence[_Written], source: Path) -> Iterator[str]:
    yield "#:schema suite.schema.json\n"
    number = counted(len(log.kinds), "kind")
    name = safe.word(source.name)
    yield f"# The mix of {name}: {exact(log.taken)} requests of {number}."
    rate = "unknown" if log.per_s is None else figure(log.per_s)
    yield f"# In its busiest minute the log has {rate} requests/s, all lines counted."
    for reason, lines in log.left_out.items():
        yield f"# Left out: {exact(lines)} {reason}."
    for kind in incomplete(log):
        yield f"# To complete below, since its body is not in the log: {kind}."
    yield f"# A value that {OWN} stands for, or that no longer exists, is yours to fill in."
    yield "benchforge = 1"
    yield f"title = {_quoted(f'The mix of {name}')}"
    yield 'placement = "auto"                    # the load tool has CPUs of its own\n'
    yield "[servers.mine]"
    yield 'use = "url"                           # a server that runs already'
    yield 'url = "http://127.0.0.1:8000"         # yours\n'
    yield "# Or an app that benchforge starts: replace the lines above."
    yield "#[servers.mine]"
    yield '#use = "gunicorn"                     # WSGI; uvicorn for ASGI'
    yield '#app = "mysite.wsgi:application"      # yours'
    yield '#directory = "."                      # contains the module; relative to this file'
    yield "#workers = 2"
    yield "#threads = 4\n"
    yield "[loaders.closed]                      # each connection sends on after its answer"
    yield 'use = "pace"'
    yield "connections = 8"
    yield 'duration = "10s"\n'
    yield "[loaders.open]                        # users who do not wait for each other"
    yield 'use = "pace"'
    yield f"connections = {CONNECTIONS}                      # at most"
    yield f'duration = "{DURATION_S}s"\n'
    yield "[scenarios.mix]"
    yield 'servers = ["mine"]'
    yield 'loaders = ["closed"]\n'
    for mixed in kinds:
        if mixed.kind.method == "GET":
            yield f"[scenarios.mix.kinds.{mixed.label}]"
            yield from _share_and_answer(log, mixed)
            yield f"request = {{ path = {_quoted(_path(mixed))} }}\n"
            yield from _feed(mixed)
        elif _LOGIN.search(mixed.kind.pattern[-1]):
            yield from _session(mixed)
        else:
            yield from _comment(log, mixed, [mixed, *kinds])
    yield "[repeat]"
    yield 'warmup = "1s"\n'
    yield from highest(kinds[0].label)


def _comment(log: AccessLog, mixed: _Written, kinds: Sequence[_Written]) -> Iterator[str]:
    yield f"# {mixed.kind.method}: fill in what your app expects, and remove each # below."
    holes = (f"{kind.label}.{kind.places[0].name}" for kind in kinds if kind.rows and kind.places)
    if example := next((hole for hole in holes if hole.endswith(".id")), ""):
        yield f"# A body may have values: {{{example}:raw}} is a number, and {{{example}}} a text."
    yield from _commented(
        f"[scenarios.mix.kinds.{mixed.label}]",
        *_share_and_answer(log, mixed),
        f"[scenarios.mix.kinds.{mixed.label}.request]",
        f"method = {_quoted(mixed.kind.method)}",
        f"path = {_quoted(_path(mixed))}",
        'headers = { Content-Type = "application/json" }',
        f"body = '{{\"{OWN}\": 1}}'",
        *_feed(mixed),
    )


def _session(mixed: _Written) -> Iterator[str]:
    """Yield a login, as a comment: it is a session, and no part of the mix."""
    status = _usual_status(mixed)
    yield f"# {mixed.kind.method} {_path(mixed)} looks like a login: a session, not a kind."
    yield "# Its users log in before the load, and each request is of one of them. Make users.csv:"
    yield "# its first line is name,password, and each other line is a user. Remove each # below,"
    yield "# and correct the names of the fields: a log does not have them."
    as_form = ['form = { name = "{users.name}", password = "{users.password}" }']
    as_json = [
        'headers = { Content-Type = "application/json" }',
        """body = '{"name": "{users.name}", "password": "{users.password}"}'""",
    ]
    form = HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST  # a page for browsers
    yield from _commented(
        "[feeds.users]",
        'file = "users.csv"',
        'order = "each once"',
        "[scenarios.mix.session]",
        "users = 10                           # at most the users of the file",
        f"expect = {{ status = {status} }}",
        *(() if form else ('take = { token = "json:/token" }      # if the answer has one',)),
        "[scenarios.mix.session.request]",
        f"method = {_quoted(mixed.kind.method)}",
        f"path = {_quoted(_path(mixed))}",
        *(as_form if form else as_json),
        *_feed(mixed),
    )
    yield "# Cookies are sent without more. A kind that needs the token has in its request:"
    yield '#     headers = { Authorization = "Bearer {token}" }\n'


def _commented(*lines: str) -> Iterator[str]:
    yield from (f"#{line}" for text in lines for line in text.rstrip().split("\n"))
    yield ""


def _share_and_answer(log: AccessLog, mixed: _Written) -> Iterator[str]:
    of_all = log.taken + sum(kind.requests for kind in log.incomplete)
    yield f"share = {max(1, round(100 * mixed.kind.requests / of_all))}"
    yield f"expect = {{ status = {_usual_status(mixed)} }}"


def _usual_status(mixed: _Written) -> int:
    status = mixed.kind.statuses.most_common(1)[0][0]
    return HTTPStatus.OK if status == HTTPStatus.NOT_MODIFIED else status


def _feed(mixed: _Written) -> Iterator[str]:
    if mixed.rows:
        yield f"[feeds.{mixed.label}]"
        yield f"file = {_quoted(f'{mixed.label}.csv')}\n"


def _path(mixed: _Written) -> str:
    path, number = "", 0
    for part in mixed.kind.pattern:
        path += "/"
        if part.startswith(HOLE):
            path += f"{{{mixed.label}.{mixed.places[number].name}}}{part.removeprefix(HOLE)}"
            number += 1
        else:
            path += part
    keys = [varying for varying in mixed.places if varying.number is None]
    query = "&".join(f"{quote_plus(p.key)}={{{mixed.label}.{p.name}}}" for p in keys)
    return path + (f"?{query}" if query else "")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def highest(kind: str) -> Iterator[str]:
    """Yield the lines of the profile; `kind` is the label of one of the mix."""
    yield "# The highest rate that keeps an objective, of all kinds or of one:"
    yield "#     benchforge run suite.toml --profile highest"
    responses = f"{_LOWEST * DURATION_S:,}"
    yield f"# p99 needs 1,000 responses: {_LOWEST}/s for {DURATION_S} s are {responses}."
    yield "# For a slower server, set a lower first rate and a longer duration: 12/s and 100 s."
    yield "[profiles.highest]"
    yield 'scenarios.mix.loaders = ["open"]'
    yield f"scenarios.mix.find.rate = [{_LOWEST}, 5000]"
    yield 'scenarios.mix.find.slo = ["latency p99 < 100ms"]'
    yield f"scenarios.mix.find.steps = {_STEPS}         # more steps: a narrower interval"
    yield "# With an objective for one kind, which needs 1,000 responses of that kind:"
    yield f'#scenarios.mix.find.slo = ["latency p99 < 100ms", "latency p99 {kind} < 50ms"]'
