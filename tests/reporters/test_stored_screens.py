"""What each command prints and writes of stored results, to the byte."""

import gzip
import json
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from benchforge_reporters.ci_reports import GitHub, Junit
from benchforge_reporters.html.report import Html
from benchforge_reporters.markdown import Markdown
from benchforge_reporters.terminal.report import Terminal, Why
from front_door import Bench
from made.plain import named
from screens import STORED, compared, compared_page, recorded
from suite_texts.files import suite_text

from benchforge.cli.measure.gate.files import first_screen, lines, write
from benchforge.cli.measure.gate.outcome import GatedPair, Outcome
from benchforge.cli.measure.gate.outcome import document as as_json
from benchforge.cli.measure.gate.verdict import SpeedVerdict
from benchforge.model.suite.claim import Waiver

MOST_LINES, MOST_OF_ONE = 50, 15
DRIFT = (1.0, 1.004, 0.995, 1.003, 0.998, 1.001)
AUTOCANNON = Path(__file__).parents[1] / "audit/recorded/autocannon"
WRK = """wrk 4.2.0 [epoll] Copyright (C) 2012 Will Glozer
Running 30s test @ http://127.0.0.1:8080/<script>alert(1)</script>
  2 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.52s   102.13ms   1.61s    93.02%
    Req/Sec     5.20k   512.01     6.10k    70.00%
  312040 requests in 30.02s, 42.11MB read
Requests/sec:  10394.40
Transfer/sec:      1.40MB
"""


def result(folder: Path, day: int, django: float = 1.0, **facts: Any) -> Path:
    """Write the stored result as if it had been measured on another day, and quietly."""
    file = folder / f"day-{day:02}.json"
    stored = json.loads(gzip.decompress((STORED / "disturbed.json.gz").read_bytes()))["summary"]
    begun = datetime.fromisoformat(stored["created"]) + timedelta(days=day)
    stored |= {"created": begun.isoformat(), "causes": [], "facts": {**stored["facts"], **facts}}
    for comparison in stored["comparisons"]:
        comparison["verdict"] = None
    for case in stored["cases"]:
        case |= {"doubted": [], "believed": case["trials"], "findings": []}
        times = {"flask": 1.0, "django": DRIFT[day % 6] * django}.get(case["case"]["server"], 1.01)
        for line in case["metrics"]:
            if line["metric"] == "throughput":
                for sample in line["samples"]:
                    sample["sample"]["value"] *= times
                for name in {"lowest", "highest", "median", "mean", "sd", "typical"} & line.keys():
                    line[name] = line[name] and line[name] * times
    file.write_text(json.dumps(stored))
    return Path(file.name)


def test_report(tmp_path: Path) -> None:
    for reporter in (Markdown(), Html(), GitHub(), Junit()):
        reporter.report(*recorded("disturbed"), tmp_path)
    for name in ("report.md", "github.md", "junit.xml"):
        compared(name, (tmp_path / name).read_text(encoding="utf-8"))
    compared_page("report.html.txt", tmp_path / "report.html")


@pytest.mark.parametrize("width", [80, 120, 200])
def test_report_on_a_terminal_fits(width: int) -> None:
    text = Terminal().text(*recorded("disturbed"), width)
    compared(f"terminal-{width}.txt", text)
    assert max(map(len, text.splitlines())) <= width
    assert len(text.splitlines()) <= MOST_LINES
    coloured = Terminal().text(*recorded("disturbed"), width, colour=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured).split() == text.split()
    codes = {"0", "1", "2", "1;31", "32", "33", "36"}
    assert set(re.findall(r"\x1b\[([0-9;]*)m", coloured)) <= codes


def test_why_tells_all_findings_of_each_cause() -> None:
    text = Why().text(*recorded("disturbed"), 120)
    compared("why-120.txt", text)
    checks = [item.check for cause in recorded("disturbed")[0].causes for item in cause.findings]
    for check in checks:
        unknown = f"  - {check.id} {check.name}".rstrip()  # in a list of their own
        assert f"{check.status} {check.id}" in text or unknown in text
        assert check.message.split(maxsplit=1)[0] in text


def test_compare(bench: Bench, tmp_path: Path) -> None:
    past = [result(tmp_path, day) for day in range(6)]
    new = result(tmp_path, 9, 0.8)
    against = [word for file in past for word in ("--against", file)]
    command = ("compare", new, *against, "--reference", "flask")
    compared("compare.txt", bench(*command, "--html", "page.html", code=1).out)
    compared("compare-details.txt", bench(*command, "--details").out)
    compared_page("compare.html.txt", tmp_path / "page.html")
    compared("compare.json", bench(*command, "--metric", "throughput", "--json").out)
    two = bench(
        "compare", result(tmp_path, 3, kernel="9"), new, "--anyway", "--html", "page.html", code=0
    )
    compared("compare-two.txt", two.out)
    compared_page("compare-two.html.txt", tmp_path / "page.html")


def test_history(bench: Bench, tmp_path: Path) -> None:
    days = [result(tmp_path, day, 0.8 if day > 12 else 1.0) for day in range(24)]
    days += [result(tmp_path, 24, kernel="9"), result(tmp_path, 25, kernel="9")]
    command = ("history", *days, "--reference", "flask", "--metric", "throughput")
    compared("history.txt", bench(*command, "--html", "page.html", code=0).out)
    compared("history-details.txt", bench(*command, "--details").out)
    compared_page("history.html.txt", tmp_path / "page.html")
    compared("history-alone.txt", bench("history", *days[22:], "--metric", "latency").out)
    few = ("history", *days[11:15], "--reference", "flask", "--metric", "throughput")
    compared("history.json", bench(*few, "--json").out)
    compared("history.csv", bench(*few, "--csv").out)


def test_audit(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "wrk.txt").write_text(WRK)
    for output in sorted(AUTOCANNON.glob("*.json"))[:2]:
        (tmp_path / output.name).write_bytes(output.read_bytes())
    command = ("audit", ".", "--pipeline", "1")
    done = bench(*command, "--html", "page.html", "--junit", "junit.xml", code=1)
    compared("audit.txt", done.out)
    compared_page("audit.html.txt", tmp_path / "page.html")
    compared("audit.xml", (tmp_path / "junit.xml").read_text())
    for file in ("page.html", "junit.xml"):
        (tmp_path / file).unlink()
    compared("audit.md", bench(*command, "--markdown").out)
    compared("audit.json", bench(*command, "--json").out)
    compared("audit-all.txt", bench(*command, "--all").out)


def outcome(*verdicts: SpeedVerdict, **changed: Any) -> Outcome:
    waiver = Waiver(scenario="ping", reason="a known loss", until=None)
    pairs = []
    for number, verdict in enumerate(verdicts):
        case = named(f"app{number}", scenario="ping-2", driver="closed", digest="0" * 16)
        waived = waiver if number == 1 else None
        notes = ("the response changed: the base sent 'a', the working tree 'b'",) * (number == 0)
        pairs.append(GatedPair("ping", case, "throughput", verdict, True, waived, None, notes))
    fields: dict[str, Any] = {"base": "main (1a2b)", "head": "working tree", "limit": 0.05}
    fields |= {"level": 0.98, "questions": tuple(pairs), "result": "results/x"}
    return Outcome(**fields | {"notes": ("not compared: servers.x: new",)} | changed)


SLOWER = SpeedVerdict("slower", 0.8, 0.75, 0.85, 12)
OUTCOMES = {
    "slower": outcome(SpeedVerdict("not slower", 1.01, 0.99, 1.03, 8), SLOWER, SLOWER),
    "undecided": outcome(
        SpeedVerdict("undecided", 0.97, 0.9, 1.04, 9),
        SpeedVerdict("undecided", 0.97, 0.9, 1.04, 9, counts="older result"),
        SpeedVerdict("invalid", why="no trial | counts"),
    ),
    "broken": outcome(SpeedVerdict("broken", why="status 500 instead of 200")),
    "base": outcome(SpeedVerdict("base broken", why="status 500 instead of 200")),
    "same": outcome(same=True, result=""),
    "nothing": outcome(result=""),
}


@pytest.mark.parametrize("name", OUTCOMES)
def test_gate(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, files = OUTCOMES[name], [tmp_path / f"gate.{end}" for end in ("md", "xml", "svg", "json")]
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    write(made, comment=files[0], junit_xml=files[1], badge=files[2])
    write(made, comment=None, junit_xml=None, badge=files[3])
    screen = [*first_screen(made)]
    assert len(screen) <= MOST_OF_ONE
    assert screen[0].split(":")[0] in {"PASSED", "FAILED", "UNDECIDED"}
    texts = ["\n".join(screen), "\n".join(lines(made))]
    texts += [json.dumps(as_json(made), indent=1, sort_keys=True)]
    texts += [file.read_text() for file in files]
    compared(f"gate-{name}.txt", "\n----\n".join(texts))


@pytest.mark.parametrize(
    ("verdicts", "crowded", "quote"),
    [
        ((SLOWER,), "", "Yes: the change, with its interval."),
        ((SLOWER, SpeedVerdict("undecided")), "", "its interval, where it is decided."),
        ((SLOWER,), "other programs used 9 % of the CPUs", "No: other programs used 9 % of the"),
        ((SpeedVerdict("undecided"),), "other programs used 9 % of the CPUs", "No."),
    ],
)
def test_a_gate_says_what_may_be_quoted(
    verdicts: tuple[SpeedVerdict, ...], crowded: str, quote: str
) -> None:
    pairs = [pair._replace(crowded=crowded) for pair in outcome(*verdicts).questions]
    (line,) = (it for it in first_screen(outcome(questions=tuple(pairs))) if "quote" in it)
    assert line.startswith("May I quote it?  ")
    assert quote in line


def test_plan(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(suite_text("reporters/stored_screens"))
    compared("plan.txt", bench("plan", "small.toml", code=0).out)
