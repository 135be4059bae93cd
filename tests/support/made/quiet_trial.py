"""A healthy trial on a quiet machine of four CPUs, built by hand, and how to change it."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import pytest
from made import plain

from benchforge.checks import ask
from benchforge.checks.limits import limits
from benchforge.model.files.result import Header
from benchforge.model.suite.placement import ActualPlacement
from benchforge.model.trial.check import Check
from benchforge.model.trial.histogram import Histogram
from benchforge.model.trial.observation import MachineUsage, Observation, Usage
from benchforge.model.trial.reading import Load, Reading
from benchforge.model.trial.trial import Trial

LIMITS = limits()
APART = ActualPlacement(cpus={"server": "0-1", "backend": "0-1", "loader": "2"})

# 16 connections for 10 s: 158 seconds of 160 under way.
LATENCY = Histogram.of({280: 500_000, 400: 30_000, 800: 5_000, 1_300: 1_000})


def reading(**changed: Any) -> Reading:
    return plain.reading(536_000, **{"seconds": 10, "unanswered": 0, "latency": LATENCY} | changed)


def usage(label: str, role: str, **changed: Any) -> Usage:
    fields: dict[str, Any] = {"label": label, "cpu_s": 5.0, "pss_samples": 10}
    fields |= {"peak_pss_bytes": 30_000_000, "memory_growth": 0.01, "major_faults": 0}
    fields |= {"busiest_thread_cpu_s": 4.5, "busy_threads": 1, "cpu_wait_s": 0.2}
    fields |= {"voluntary_switches": 1000, "involuntary_switches": 600}
    return plain.usage(role, **fields | changed)


def parts(**changed: dict[str, Any]) -> tuple[Usage, ...]:
    """The parts of a trial, each with what is changed, by role."""
    labels = {"server": "flask", "backend": "agents", "loader": "closed"}
    return tuple(usage(label, role, **changed.get(role, {})) for role, label in labels.items())


def machine(**changed: Any) -> MachineUsage:
    fields: dict[str, Any] = {"cpus": 4, "busy_s": 15.5, "stolen_s": 0.0}
    fields["busy_by_cpu_s"] = {0: 5.0, 1: 5.0, 2: 5.0, 3: 0.5}
    fields["pressure"] = {"cpu.some": 0.45, "io.some": 0.01, "memory.full": 0.0}
    fields["paging"] = {"pswpin": 0, "pswpout": 0, "oom_kill": 0}
    fields |= {"throttled": 0, "overheated": 0, "frequency_mhz": (2990, 3000, 3010)}
    fields |= {"temperature_c": (45, 50), "clock_step_s": 0.00001, "longest_gap_s": 0.26}
    return MachineUsage.model_validate(fields | changed)


def observation(**changed: Any) -> Observation:
    fields = {"seconds": 10.0, "usage": parts(), "sampler_cpu_s": 0.02, "machine": machine()}
    return plain.observation(**fields | changed)


def trial(**changed: Any) -> Trial:
    """A quiet trial; `machine`, `parts` and `seconds` change its observation, the rest itself."""
    names = {"machine", "seconds", "parts"} & changed.keys()
    observed = {"usage" if name == "parts" else name: changed.pop(name) for name in names}
    fields: dict[str, Any] = {
        "case": plain.named("flask", scenario="s", driver="closed"),
        "load": Load(connections=16, concurrency=16, declared_s=10),
        "placement": APART,
        "reading": reading(),
        "observation": observation(**observed),
    }
    return plain.trial(**fields | changed)


def header(**facts: Any) -> Header:
    values: dict[str, Any] = {"load_average": [0.1, 0.2, 0.3], "cpus_usable": 4, "virtual": False}
    values |= {"clocksource": "tsc", "governor": "performance", "boost": "0"}
    return plain.header(facts=values | facts)


def only(checks: Iterable[Check], id_: str, label: str | None = None) -> Check:
    """Return the one check of this id, about this where it is given."""
    (actual,) = (check for check in checks if check.id == id_ and label in {None, check.component})
    return actual


def asked(trial: Trial, id_: str, label: str | None = None) -> Check:
    """Return one check of a trial, of all that are asked."""
    return only(ask.of_trial(trial, LIMITS), id_, label)


def altered(field: str, value: Any, **changed: Any) -> Trial:
    """A quiet trial with another field: its own, of `machine`, or of the part of a role."""
    owner, _, name = field.rpartition(".")
    if owner == "machine":
        changed["machine"] = machine(**{name: value})
    elif owner:
        changed["parts"] = parts(**{owner: {name: value}})
    return trial(**changed if owner else {name: value, **changed})


class Row(NamedTuple):
    """A trial, and what a check says of it; `N3:cpu` is a check of a component."""

    check: str
    trial: Trial
    outcome: str
    "Status, and the subject if that is not the apparatus."
    value: float | None = None
    says: str = ""

    def holds(self) -> None:
        check = asked(self.trial, *self.check.split(":"))
        outcome = self.outcome if " " in self.outcome else f"{self.outcome} apparatus"
        assert f"{check.status} {check.subject}" == outcome, check
        assert (check.value is None) >= (check.status == "unknown")
        if self.value is not None:
            assert check.value == pytest.approx(self.value, rel=0.01, abs=1e-9)
        assert self.says in check.message


def rows(check: str, field: str, *outcomes: tuple[Any, ...], **changed: Any) -> list[Row]:
    """Return a row for each value of a field, each with its outcome."""
    return [Row(check, altered(field, value, **changed), *rest) for value, *rest in outcomes]


def ids(trial: Trial) -> set[str]:
    return {check.id for check in ask.of_trial(trial, LIMITS)}


WORSE = ("pass", "unknown", "warn", "fail")


def at_least_as_bad(check: Check, other: Check) -> bool:
    return WORSE.index(check.status) >= WORSE.index(other.status)
