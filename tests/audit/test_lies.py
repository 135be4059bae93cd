"""Each kind of lie that is planted in a true result is reported, by the check that it breaks."""

import json
import re
from collections.abc import Callable
from typing import NamedTuple

import pytest
from load import printers
from load.audits import audit, false
from load.queues import Setup, Simulated, simulate

from benchforge.plugin import Fact

SETUP = Setup(connections=8, workers=2, service_s=0.004, duration_s=2.0, seed=7)
OPEN = Setup(connections=8, workers=4, service_s=0.004, duration_s=2.0, rate=300.0, seed=7)


def edited(text: str, pattern: str, change: Callable[[float], float]) -> str:
    """Change the number in the first group of a pattern."""

    def other(match: re.Match[str]) -> str:
        start, end = match.start(1) - match.start(), match.end(1) - match.start()
        value = change(float(match[1]))
        text = f"{value:.0f}" if match[1].isdigit() else f"{value:.4f}"
        return match[0][:start] + text + match[0][end:]

    changed, count = re.subn(pattern, other, text, count=1)
    assert count, pattern
    return changed


def bombardier_with_more(simulated: Simulated) -> str:
    return edited(printers.bombardier(simulated), r'"req2xx": (\d+)', lambda count: 3 * count)


def jmeter_with_late_first_byte(simulated: Simulated) -> str:
    return printers.jmeter(simulated).replace("http://127.0.0.1/,", "http://127.0.0.1/,9", 1)


def arena(*rows: dict[str, object]) -> str:
    plain = {
        "rps": 20000,
        "avg_latency": "20.00ms",
        "p99_latency": "35.00ms",
        "cpu": "640.0%",
        "connections": 512,
        "duration": "5s",
        "pipeline": 1,
        "bandwidth": "3.00MB/s",
        "status_2xx": 100012,
    }
    return json.dumps([{"framework": f"f{n}", **plain, **row} for n, row in enumerate(rows)])


class Edit(NamedTuple):
    """A number of a true result that is changed, and the check that reports it."""

    code: str
    printer: Callable[[Simulated], str]
    pattern: str
    change: Callable[[float], float]
    setup: Setup = SETUP

    def text(self) -> str:
        return edited(self.printer(simulate(self.setup)), self.pattern, self.change)


EDITS = {
    "a rate three times as high": Edit(
        "AC1", printers.wrk, r"Requests/sec: ([\d.]+)", lambda r: 3 * r
    ),
    "a p99 below the median": Edit("AP1", printers.hey, r"99%% in ([\d.]+)", lambda t: t / 100),
    "a mean above the maximum": Edit("AM1", printers.oha, r'"average": ([\d.]+)', lambda t: 90 * t),
    "a mean that the percentiles do not allow": Edit(
        "AM2", printers.oha, r'"average": ([\d.]+)', lambda t: t / 8
    ),
    "a deviation beyond the extremes": Edit(
        "AV1", printers.bombardier, r'"stddev": ([\d.]+)', lambda t: 99 * t
    ),
    "a response longer than the load": Edit(
        "AT1", printers.oha, r'"slowest": ([\d.]+)', lambda _: 900.0
    ),
    "twice the bytes per second": Edit(
        "AB1", printers.ab, r"Transfer rate: +([\d.]+)", lambda b: 2 * b
    ),
    "a mean that is not that of the times": Edit(
        "AR1", printers.hyperfine, r'"mean": ([\d.]+)', lambda t: t / 2
    ),
    "operations that do not follow from the mean": Edit(
        "AR2", printers.pytest_benchmark, r'"ops": ([\d.]+)', lambda r: 2 * r
    ),
    "a throughput that is not of the successes": Edit(
        "AC5", printers.vegeta, r'"throughput": ([\d.]+)', lambda r: 2 * r, OPEN
    ),
    "a histogram of other requests": Edit(
        "AC4", printers.wrk2, r"Total count += (\d+)", lambda n: n + 99, OPEN
    ),
    "iterations of another run": Edit(
        "AC3", printers.k6, r'"iterations": {"count": (\d+)', lambda n: 3 * n
    ),
    "fewer users than iterations": Edit(
        "AL4", printers.k6, r'"vus_max": {"value": (\d+)', lambda _: 2
    ),
}
LIES: dict[str, tuple[str, Callable[[], str]]] = {
    **{name: (edit.code, edit.text) for name, edit in EDITS.items()},
    "three times as many requests": ("AL1", lambda: bombardier_with_more(simulate(SETUP))),
    "more bytes than the link carries": ("AB3", lambda: arena({"bandwidth": "3.00GB/s"}, {})),
    "more CPUs than there are": ("AU1", lambda: arena({"cpu": "9000.0%"}, {})),
    "a duration that was not run": ("AC1", lambda: arena({"status_2xx": 300036}, {})),
    "the mean in the column of the p99": (
        "AX2",
        lambda: arena(*({"p99_latency": "20.00ms", "rps": 20000 + n} for n in range(4))),
    ),
    "a copied row": ("AX1", lambda: arena({"rps": 20123}, {"rps": 20123}, {"rps": 19800})),
    "a row left out": ("AC6", lambda: re.sub(r"GET,/b,.*\n", "", printers.locust(simulate(SETUP)))),
    "a first byte after the last": ("AS1", lambda: jmeter_with_late_first_byte(simulate(SETUP))),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_reported(lie: str) -> None:
    code, text = LIES[lie]
    options = {
        "link": Fact(1.25e9, "B/s", origin="by the auditor"),
        "cores": Fact(64.0, "cores", origin="by the auditor"),
    }
    name = "baseline-512.json" if code in {"AB3", "AU1", "AC1", "AX1", "AX2"} else "result"
    findings = false(audit(text(), options, name))
    assert [finding.code for finding in findings if finding.code == code], findings
    for finding in findings:
        assert finding.identity
        assert finding.row
        assert finding.where
        assert finding.true_if


def test_the_rows_that_lies_are_planted_in_are_true() -> None:
    options = {"link": Fact(1.25e9, "B/s"), "cores": Fact(64.0, "cores")}
    assert not false(
        audit(arena({"rps": 20001}, {"rps": 20002}, {"rps": 20003}), options, "baseline-512.json")
    )
