"""Lies of servers and load tools: which checks find which lie under which tool, as a table."""

import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from planted.beside import program
from planted.turning import TAKES
from planted.validity import PAGE, Seen

LOADED, TURNS = (f"faulty_servers/{name}.py" for name in ("loaded", "turns"))
# Program and its word for the lie: what it does.
LIES: Mapping[tuple[str, str], str] = {
    (f"faulty_servers/{name}.py", lie): does
    for name, lies in tomllib.loads(Path(__file__).with_suffix(".toml").read_text()).items()
    for lie, does in lies.items()
}
RATES = {
    **dict.fromkeys(("hundredth", "some-500", "percent"), 0.01),
    **dict.fromkeys(("tenth", "some-wrong"), 0.1),
    **dict.fromkeys(("rare", "few-302"), 0.001),
    "graphql": 0.03,
}
"Shares of the answers that are wrong, of lies that are not told to all connections of a load."
EXPECT = {
    TURNS: f"""expect = {{ body = "{"pong" * 64}" }}""",
    LOADED: """expect = { json = { message = "pong" } }""",
}
POSTED = {
    "login": '{ user = "Ada Lovelace" }',
    "graphql": '{ data = { user = "Ada" } }',
    "order": "{ paid = true }",
}
"JSON of the right answers of lies that are told to POST."
ZIPPED = '{ path = "/", headers = { Accept-Encoding = "gzip" } }'
CANNOT_POST = {(lie, "siege"): "the tool cannot send POST" for lie in POSTED}
_SIX = 'connections = 6\nduration = "2s"'
_OF_SIX = ("pace", "wrk", "ab", "h2load", "hey", "siege")
TOOLS = {tool: f'use = "{tool}"\n{_SIX}' for tool in _OF_SIX}
TOOLS |= {tool: f'use = "{tool}"\nusers = 6\nduration = "3s"' for tool in ("k6", "locust")}
IN_TURNS, LOST = " in turns", "the launch was lost for all that took turns"
TOOLS |= {f"{tool}{IN_TURNS}": TOOLS[tool] for tool in ("pace", "wrk", "ab")}
_BOUND = re.compile(r"random windows of the load [^:;]*: at most ([\d.]+) % of them did")
# Lies, and tools where it is of some alone: why their cells may be silent.
SILENT: Mapping[tuple[str, str], str] = {
    **{
        (lie, tool): "the tool sends `Accept-Encoding`, so this server answers it rightly"
        for lie in ("tools-500", "tools-shorter")
        for tool in ("siege", "locust")
    },
    **CANNOT_POST,
}
_OF_THE_LOAD = {"E2", "K3"}
"Checks whose findings are about a short load or a busy machine."
HEAD = Path(__file__).with_suffix(".md").read_text()


def label(lie: str) -> str:
    return f"s{lie}"


def liars(*lies: str, takes: str = TAKES, name: str = LOADED) -> dict[str, str]:
    """Return the TOML of a server for each lie, whose answers take so many seconds."""
    options = [takes] if takes else []
    return {label(lie): program(name, "{port}", lie, *options) for lie in lies}


def findings(observed: Seen, lie: str) -> dict[str, str]:
    """Return the checks of answers and connections that did not pass, and how they ended.

    Where no check looked at a trial, the load tool's counts or a single request refused it.
    """
    worst: dict[str, str] = {}
    server = label(lie)
    for trial in observed.trials(server):
        failure = trial["failure"]
        # A launch in turns is lost for all of its servers, whichever of them was refused.
        others = failure and LOST in failure["message"] and f"{server}: " not in failure["message"]
        if failure and not trial["checks"] and not others:
            worst[_refusal(failure)] = "fail"
        for check in trial["checks"]:
            if check["id"][0] not in "EK" or check["id"] in _OF_THE_LOAD:
                continue
            if check["status"] == "fail" or (
                check["status"] == "warn" and check["id"] not in worst
            ):
                worst[check["id"]] = check["status"]
    return dict(sorted(worst.items()))


def _refusal(failure: Mapping[str, str]) -> str:
    if failure["stage"] == "ask":
        return "probes"
    return "no end" if "did not end within" in failure["message"] else "counts"


def bound(observed: Seen, lie: str) -> dict[str, str]:
    """Return the bound that E6 printed of the load's windows, if it admits the rate of the lie."""
    actual = [_BOUND.search(check["message"]) for check in observed.checks("E6", label(lie))]
    shares = [float(match[1]) for match in actual if match]
    admits = shares and min(shares) / 100 >= RATES.get(lie, 1.0)
    return {f"at most {min(shares):g} %": "fail"} if admits else {}


def asks(program: str, lies: Iterable[str]) -> str:
    """Return the lines of a scenario: what each server is asked, and how it answers."""
    posted = [lie for lie in lies if program == LOADED and lie in POSTED]
    requests = {label(lie): '{ method = "POST", path = "/", body = "{}" }' for lie in posted}
    if program == LOADED and "zipped" in lies:
        requests[label("zipped")] = ZIPPED
    lines = [f"requests.{name} = {table}" for name, table in requests.items()]
    lines += [f"expects.{label(lie)} = {{ json = {POSTED[lie]} }}" for lie in posted]
    return "\n".join([EXPECT[program], *lines])


def noted(tool: str, lie: tuple[str, str], actual: Mapping[str, str]) -> None:
    """Write a cell down, or hold the lie and the tool against the page."""
    if path := os.environ.get("VALIDITY"):
        with Path(path).open("a") as file:
            file.write(json.dumps({"tool": tool, "lie": lie[1], "found": actual}) + "\n")
        return
    cells = {(row, column) for row, column, _ in page_cells(PAGE.read_text())}
    assert (LIES[lie], tool) in cells, "the page has no such cell: `make validity` writes it"


def table(lines: Iterable[str]) -> str:
    """Return the section of the page, from what the tests wrote; other tools' columns stay."""
    cells = {(cell["lie"], cell["tool"]): cell["found"] for cell in map(json.loads, lines)}
    if not cells:
        return ""
    measured = {tool for _, tool in cells}
    earlier = {(says, tool): text for says, tool, text in page_cells(PAGE.read_text())}
    tools = [tool for tool in TOOLS if tool in measured | {column for _, column in earlier}]
    notes: dict[str, int] = {}
    rows = [["lie", *tools], ["---"] * (1 + len(tools))]
    for (_, lie), says in LIES.items():
        texts = (
            _cell(lie, tool, cells.get((lie, tool)), notes)
            if tool in measured
            else earlier.get((says, tool), "not measured")
            for tool in tools
        )
        rows.append([says, *texts])
    cells_ = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    explained = "".join(
        f"\n{number}. {note[0].upper()}{note[1:]}." for note, number in notes.items()
    )
    return f"{HEAD}{cells_}{explained}\n"


def _cell(lie: str, tool: str, actual: Mapping[str, str] | None, notes: dict[str, int]) -> str:
    if actual is None:
        return "not measured"
    names = [name if status == "fail" else f"({name})" for name, status in actual.items()]
    if reason_ := SILENT.get((lie, tool)):
        names.append(f"[{notes.setdefault(reason_, len(notes) + 1)}]")
    return ", ".join(names) or "nothing"


def page_cells(page: str) -> Sequence[tuple[str, str, str]]:
    """Return lie, tool and text of each cell of the page's table."""
    section = page.partition("## Lies by load tool")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    tools = rows[0][1:] if rows else []
    return [
        (row[0], tool, cell) for row in rows[2:] for tool, cell in zip(tools, row[1:], strict=True)
    ]
