"""Trials that are made by hand, for the checks: all is well with them until a test changes it."""

from typing import Any

from made import plain

from benchforge.checks.limits import limits
from benchforge.model.trial.answers.answer import Answer
from benchforge.model.trial.answers.good_response import GoodResponse
from benchforge.model.trial.answers.monitor import EqualAnswers, Listener, Monitor, Probes, Sizes
from benchforge.model.trial.check import Check
from benchforge.model.trial.histogram import Histogram
from benchforge.model.trial.observation import MachineUsage, Observation, Usage
from benchforge.model.trial.reading import Load, Reading
from benchforge.model.trial.trial import Trial

LIMITS = limits()
SEGMENTS = {"TcpOutSegs": 60_000, "TcpInSegs": 60_000}


def usage(**changed: Any) -> Usage:
    fields: dict[str, Any] = {"label": "server-a", "cpu_s": 9.5, "process_cpu_s": (4.8, 4.7, 0.0)}
    fields |= {"peak_pss_bytes": 1000, "busiest_thread_cpu_s": 4.8, "busy_threads": 2}
    fields |= {"printed_bytes": 0, "ended_processes": 0, "new_processes": 0, "processes": 3}
    return plain.usage(**fields | {"open_files_limit": 4096} | changed)


def loader(**changed: Any) -> Usage:
    fields = {"label": "loader-w", "role": "loader", "cpu_s": 5.0, "busiest_thread_cpu_s": 5.0}
    return usage(**(fields | {"process_cpu_s": (5.0,), "processes": 1} | changed))


def answer(**changed: Any) -> Answer:
    headers = {"content-type": "text/plain", "server": "a", "date": "today"}
    fields: dict[str, Any] = {"status": 200, "headers": headers, "length": 1000, "sha256": "aa"}
    fields |= {"seconds": 0.001, "version": "HTTP/1.1", "header_bytes": 150}
    return Answer.model_validate(fields | changed)


def probes(*answers: Answer, **changed: Any) -> Probes:
    everything = answers or (answer(),)
    stored = tuple(
        EqualAnswers(answer=item, before=20 // len(everything), after=5) for item in everything
    )
    bodies = [item.length for item in everything]
    heads = [150 if item.header_bytes is None else item.header_bytes for item in everything]
    sizes = {"shortest_body": min(bodies), "longest_body": max(bodies)}
    sizes |= {"shortest_head": min(heads), "longest_head": max(heads)}
    fields = {"before": 20, "after": 5, "distinct": len(everything), "most_frequent": stored}
    fields |= {"sizes": Sizes.model_validate(sizes), "version": "HTTP/1.1"}
    return Probes.model_validate(fields | changed)


def reading(**changed: Any) -> Reading:
    fields: dict[str, Any] = {"seconds": 10, "errors": {"status": 0, "timeout": 0}, "unanswered": 0}
    fields |= {"received_bytes": 20_000 * 1150, "test_connections": 1}
    fields["latency"] = Histogram.of({500: 19_000, 3000: 1000})
    return plain.reading(20_000, **fields | changed)


def observation(*usages: Usage, **changed: Any) -> Observation:
    machine = MachineUsage(cpus=4, busy_s=15.0, time_wait_sockets=20, ephemeral_ports=28_232)
    fields: dict[str, Any] = {"seconds": 10.2, "sampler_cpu_s": 0.01, "machine": machine}
    fields["counters"] = SEGMENTS | {"TcpPassiveOpens": 17}
    return plain.observation(*(usages or (usage(), loader())), **fields | changed)


def monitor(**changed: Any) -> Monitor:
    fields = {"moments": 97, "requests": 240, "connections": 97, "median_s": 0.001, "p90_s": 0.003}
    return Monitor.model_validate(fields | changed)


def trial(**changed: Any) -> Trial:
    """A trial of a server `a` with two workers under wrk with 16 connections."""
    server, vary = changed.pop("server", "a"), changed.pop("vary", {})
    load = {"connections": 16, "keep_alive": True, "protocol": "HTTP/1.1", "options_digest": "s"}
    fields: dict[str, Any] = {
        "case": plain.named(server, scenario="s", driver="w", vary=vary),
        "listener": Listener(address="http://127.0.0.1:4000", is_server=True),
        "load": Load.model_validate(load | changed.pop("load", {})),
    }
    fields |= {"answers": (answer(), answer()), "probes": probes(), "workers": {"a": 2}}
    fields |= {"good_response": right(), "reading": reading(), "observation": observation()}
    fields["monitor"] = monitor()
    return plain.trial(**fields | changed)


def right(**changed: Any) -> GoodResponse:
    fields = {"status": 200, "shortest": 1000, "longest": 1000, "binding": True}
    return GoodResponse.model_validate(fields | changed)


def only(checks: Any) -> Check:
    """The one check that there is."""
    (actual,) = checks
    assert isinstance(actual, Check)
    return actual
