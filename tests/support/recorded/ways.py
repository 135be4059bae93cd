"""Results of each way in which a trial is made: the suites that made them, and what is stored."""

import json
import lzma
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from front_door import PROGRAMS, Bench
from hosts_lab import lab, told_by
from planted.commits import HONEST, planted
from suite_texts.files import suite_text

STORED = PROGRAMS.parent / "checks/recorded"
BLOCKS = 8
"Blocks that are stored of a result: independence is judged from eight on."
_WORDS = ["{python}", str(PROGRAMS / "servers/answers.py"), "--port", "{port}"]
_WORDS += ["--address", "{address}", "--wait", "0.003"]
_SERVERS = suite_text("support/recorded/ways_servers", command=json.dumps(_WORDS))
_COMPARED = """[scenarios.compared]
servers = ["one", "two"]
loaders = ["closed"]
backends = ["store"]
"""
_MIX = suite_text("support/recorded/ways_mix")
_AT_ONCE = 'mode = "threads-reuse"\n'
"Of a client: all requests at once, which servers in turns refuse."
_CLIENTS = suite_text("support/recorded/ways_clients", at_once=_AT_ONCE)
_PACED = suite_text("support/recorded/ways_paced")
_HOSTS = """[placement.hosts]
loader = ["load", "load2"]
server = "app"
backend = "app"
"""
_PLACED = '[placement]\nserver = "0"\nloader = "0"\n'
_PLACES = ("load", "load2", "app")
_MANY = "blocks = 60"
_TURNS = ('interleave = "50ms"', 'each = "1s"')
_PLACEBO = (f"blocks = {BLOCKS}", "placebo = true")
TOOLS = ("wrk", "ab", "h2load", "hey", "siege", "locust")


def _closed(duration: str) -> str:
    load = f'[loaders.closed]\nuse = "pace"\nconnections = 2\nduration = "{duration}"\n'
    return f'{load}sample = "20%"\n{_COMPARED}'


def _tools(*names: str, servers: Sequence[str] = ("hello",)) -> str:
    users = {"locust": "users = 4"}
    tables = "".join(
        f'[loaders.{name}]\nuse = "{name}"\n{users.get(name, "connections = 4")}\nduration = "1s"\n'
        for name in names
    )
    parts = f"servers = {json.dumps(servers)}\nloaders = {json.dumps(names)}\n"
    return f"{tables}[scenarios.tools]\n{parts}"


def _suite(*tables: str, repeat: Sequence[str] = ("blocks = 1",)) -> str:
    always = ("[repeat]", 'quiet = "0s"', 'warmup = "0.1s"')
    placed = any(table.startswith("[placement") for table in tables)
    apart = [] if placed else ['placement = "auto"']
    return "\n".join(["benchforge = 1", *apart, _SERVERS, *tables, *always, *repeat, ""])


SUITES: Mapping[str, Sequence[str]] = {
    "alone": (
        _suite(_closed("6s"), _MIX, _PACED, _CLIENTS, _tools(*TOOLS)),
        # A ceiling may take a twentieth of what is planned.
        _suite(_closed("0.4s"), _MIX, _PACED, repeat=(_MANY, "placebo = true")),
    ),
    "in turns": (
        _suite(_closed("1s"), repeat=(*_PLACEBO, f"bridge = {BLOCKS}", *_TURNS)),
        _suite(
            _MIX,
            _CLIENTS.replace(_AT_ONCE, ""),
            _tools("wrk", "ab", servers=("hello", "other")),
            repeat=("blocks = 1", *_TURNS),
        ),
    ),
    "on hosts": (
        _suite(_HOSTS, _closed("6s"), _MIX, _PACED),
        _suite(_HOSTS, _closed("0.4s"), repeat=_PLACEBO),
        _suite(_PLACED, _HOSTS.replace('["load", "load2"]', '"load"'), _CLIENTS),
    ),
}


def recorded(way: str, bench: Bench, folder: Path) -> list[dict[str, Any]]:
    """Measure the suites of a way, and return what is to be stored of each result."""
    return [_stored(result) for result in _results(way, bench, folder)]


def _results(way: str, bench: Bench, folder: Path) -> Iterator[Path]:
    if way == "duel":
        answers = shlex.join(_WORDS).replace("{address}", "127.0.0.1")
        bench("duel", answers, answers, "--time", "40s", within_s=300)
        yield next(folder.glob("**/result.json")).parent
    if way == "gate":
        repository = planted(folder / "repository", HONEST["a header"])
        bench("gate", repository, "--base", "HEAD", "--time", "15s", within_s=300)
        yield next(folder.glob("**/result.json")).parent
    for number, text in enumerate(SUITES.get(way, ())):
        suite, results = folder / f"suite-{number}.toml", folder / f"results-{number}"
        words = ["run", str(suite), "-o", str(results)]
        words += ("--time-limit", "110s") if _MANY in text else ()
        if way == "on hosts":
            (path := folder / f"lab-{number}").mkdir()
            with lab(path, _PLACES) as hosts:
                suite.write_text(text + "".join(map(hosts.table, _PLACES)))
                message = told_by(hosts.environment, folder, *words)
        else:
            suite.write_text(text)
            message = bench(*words, within_s=300)
        assert message.code in {0, 4}, message.all
        yield next(results.iterdir())


def _stored(result: Path) -> dict[str, Any]:
    """Return a result with the last attempts, without what checks say: they are formed again."""
    header = json.loads((result / "result.json").read_text())
    header["plan"] = [step for step in header["plan"] if step["block"] <= BLOCKS]
    trials = (json.loads(path.read_text()) for path in sorted(result.glob("trials/*/trial.json")))
    ceilings = [json.loads(path.read_text()) for path in result.glob("ceilings/*/ceiling.json")]
    last = {
        (trial["block"], trial["position"]): trial for trial in trials if trial["block"] <= BLOCKS
    }
    for trial in (*last.values(), *(ceiling["trial"] for ceiling in ceilings)):
        trial["checks"] = [item for item in trial["checks"] if item["id"] in {"quiet", "placement"}]
    return {"header": header, "trials": list(last.values()), "ceilings": ceilings}


def store(way: str, results: Sequence[Mapping[str, Any]]) -> None:
    """Write the recording of a way."""
    STORED.mkdir(exist_ok=True)
    text = json.dumps(results, separators=(",", ":")).encode()
    (STORED / f"{way.replace(' ', '-')}.json.xz").write_bytes(lzma.compress(text, preset=9))
