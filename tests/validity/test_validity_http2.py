"""Servers that are wrong on old connections of HTTP/2 only: the monitor holds one open."""

from pathlib import Path

from front_door import Bench
from planted.beside import program
from planted.turning import suite
from planted.validity import ONCE, Seen, caught, measured_until, quiet

FAULTS = {
    "older": "a wrong body, as long, from the 200th stream of a connection of HTTP/2 on",
    "busy": "a wrong body, as long, from the 200th stream on, where three connections are open",
    "aged": "a wrong body, as long, on connections of HTTP/2 that are older than a second",
}


def test_old_connections_of_http_2_are_judged(bench: Bench, tmp_path: Path) -> None:
    name = "faulty_servers/http2_faults.py"
    servers = {fault: program(name, "{port}", fault) for fault in ("only", *FAULTS)}
    load = 'use = "h2load"\nprotocol = "h2c"\nconnections = 2\nduration = "2s"'
    more, scenario = 'warmup = "2s"', 'expect = { body = "Hello World!" }'
    text = suite(servers, load, scenario=scenario, top=ONCE, more=more)

    def all_wrong(observed: Seen) -> bool:
        """A neighbour may leave the monitor too few streams before the load."""
        return all(observed.trials(fault)[-1]["monitor"]["wrong"] for fault in FAULTS)

    observed = measured_until(bench, tmp_path, text, all_wrong)
    for fault, says in FAULTS.items():
        monitor = observed.trials(fault)[-1]["monitor"]
        check = caught(f"{says}, by h2load", observed, "E6", server=fault, word="status codes")
        e6 = check["message"]
        assert "the body differs from byte 7 on" in e6
        assert f"held open, up to its request {monitor['streams']} and an age of " in e6
        assert monitor["oldest_s"] > 1
        assert monitor["requests"] < 200
    quiet(observed, "E6", server="only")
    bench("verify", observed.result, code=0)
