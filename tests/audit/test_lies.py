"""Each kind of lie that is planted in a true result is reported, by the check that it breaks."""

import json
import re
from collections.abc import Callable
from functools import partial

import pytest
from load import printers
from load.audits import audit, false
from load.queues import Setup, Simulated, simulate

from benchforge.plugin import Fact

SETUP = Setup(connections=8, workers=2, service_s=0.004, duration_s=2.0, seed=7)
OPEN = Setup(connections=8, workers=4, service_s=0.004, duration_s=2.0, rate=300.0, seed=7)


def arena(*rows: dict[str, object]) -> str:
    plain = {"rps": 20000, "avg_latency": "20.00ms", "p99_latency": "35.00ms", "cpu": "640.0%"}
    plain |= {"connections": 512, "duration": "5s", "pipeline": 1, "bandwidth": "3.00MB/s"}
    plain |= {"status_2xx": 100012}
    return json.dumps([{"framework": f"f{n}", **plain, **row} for n, row in enumerate(rows)])


Printer = Callable[[Simulated], str]
# By the lie: the check that reports it, and the number that is so many times as large.
EDITS: dict[str, tuple[str, Printer, str, float]] = {
    "a rate three times as high": ("AC1", printers.wrk, r"Requests/sec: ([\d.]+)", 3),
    "a p99 below the median": ("AP1", printers.hey, r"99%% in ([\d.]+)", 0.01),
    "a mean above the maximum": ("AM1", printers.oha, r'"average": ([\d.]+)', 90),
    "a mean that no percentile allows": ("AM2", printers.oha, r'"average": ([\d.]+)', 0.125),
    "a deviation beyond the extremes": ("AV1", printers.bombardier, r'"stddev": ([\d.]+)', 99),
    "a response longer than the load": ("AT1", printers.oha, r'"slowest": ([\d.]+)', 1e6),
    "twice the bytes per second": ("AB1", printers.ab, r"Transfer rate: +([\d.]+)", 2),
    "a mean of other times": ("AR1", printers.hyperfine, r'"mean": ([\d.]+)', 0.5),
    "operations of another mean": ("AR2", printers.pytest_benchmark, r'"ops": ([\d.]+)', 2),
    "a throughput of failures": ("AC5", printers.vegeta, r'"throughput": ([\d.]+)', 2),
    "a histogram of other requests": ("AC4", printers.wrk2, r"Total count += (\d+)", 1.2),
    "iterations of another run": ("AC3", printers.k6, r'"iterations": {"count": (\d+)', 3),
    "fewer users than iterations": ("AL4", printers.k6, r'"vus_max": {"value": (\d+)', 0.25),
    "three times the requests": ("AL1", printers.bombardier, r'"req2xx": (\d+)', 3),
}


def changed(printer: Printer, pattern: str, times: float) -> str:
    """Change the number in the first group of a pattern."""
    text = printer(simulate(OPEN if printer in printers.OPEN.values() else SETUP))
    match = re.search(pattern, text)
    assert match, pattern
    value = float(match[1]) * times
    number = f"{value:.0f}" if match[1].isdigit() else f"{value:.4f}"
    return text[: match.start(1)] + number + text[match.end(1) :]


LIES: dict[str, tuple[str, Callable[[], str]]] = {
    **{
        name: (code, partial(changed, printer, pattern, times))
        for name, (code, printer, pattern, times) in EDITS.items()
    },
    "more bytes than the link carries": ("AB3", lambda: arena({"bandwidth": "3.00GB/s"}, {})),
    "more CPUs than there are": ("AU1", lambda: arena({"cpu": "9000.0%"}, {})),
    "a duration that was not run": ("AC1", lambda: arena({"status_2xx": 300036}, {})),
    "the mean in the column of the p99": (
        "AX2",
        lambda: arena(*({"p99_latency": "20.00ms", "rps": 20000 + n} for n in range(4))),
    ),
    "a copied row": ("AX1", lambda: arena({"rps": 20123}, {"rps": 20123}, {"rps": 19800})),
    "a row left out": ("AC6", lambda: re.sub(r"GET,/b,.*\n", "", printers.locust(simulate(SETUP)))),
    "a first byte after the last": (
        "AS1",
        lambda: printers.jmeter(simulate(SETUP)).replace("127.0.0.1/,", "127.0.0.1/,9", 1),
    ),
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
