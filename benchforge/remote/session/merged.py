"""The parts of a trial from all hosts, as one trial."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from benchforge.model.files.result import changes, fingerprint
from benchforge.model.suite.placement import ActualPlacement
from benchforge.model.trial.answers.monitor import Listener
from benchforge.model.trial.hosts import HostFacts, HostLink, TrialHost
from benchforge.model.trial.observation import Observation
from benchforge.model.trial.reading import Reading
from benchforge.model.trial.rows import MOST_BYTES, SYSTEM, USAGE, rows_text
from benchforge.model.trial.trial import StartedProcess, Trial
from benchforge.run.machine import placement
from benchforge.stats.observation import recomputed
from benchforge.text import door

_WHY = "the parts run on several hosts, whose counters are those of the hosts"


@dataclass
class HostPart:
    """What is known of a host in a trial, as it goes on; `trial` is None where it was lost."""

    parts: tuple[str, ...]
    loads: bool
    "True for the host of the first load tool."
    serves: bool
    shares: bool
    "True for one of several load tools."
    before: str
    "Begin of the names of its files."
    facts: HostFacts
    trial: Trial | None = None
    clock: tuple[float, float] | None = None
    "Offset and its bound, in seconds."
    moved_s: float | None = None
    traffic: Mapping[str, int] = field(default_factory=dict)
    hard_facts: Mapping[str, JsonValue] | None = None
    links: Mapping[str, HostLink] = field(default_factory=dict)
    started_s: float | None = None

    @property
    def reading(self) -> Reading | None:
        """What one of several load tools reports."""
        return self.trial.reading if self.trial is not None and self.shares else None


def merged(
    trial: Trial, hosts: Mapping[str, HostPart], folder: Path, *, owns: bool | None = None
) -> Trial:
    """Return the load tool's trial with what the other hosts have of it.

    Usage of all parts is in usage.csv of the folder then; that of each machine stays apart.
    """
    others = [one.trial for one in hosts.values() if one.trial is not None and not one.loads]
    processes = (p for label, one in hosts.items() for p in _processes(label, one))
    update: dict[str, Any] = {
        "hosts": {label: _host(one) for label, one in hosts.items()},
        "processes": (*processes, *trial.processes),
        "exhaustions": (*(e for one in others for e in one.exhaustions), *trial.exhaustions),
        "observation": _observation(trial, hosts, folder),
    }
    if trial.listener is not None and not any(one.loads and one.serves for one in hosts.values()):
        why = "/proc does not show who listens on its port" if owns is None else ""
        address = trial.listener.address
        update["listener"] = Listener(address=address, is_server=owns, why=why)
    if (placed := _placed(hosts)) is not None and update["observation"] is not None:
        usage = update["observation"].usage
        check = placement.check(placed, [one.label for one in usage if one.role in placed.cpus])
        update |= {"placement": placed, "checks": (check, *trial.checks)}
    all_known = all(one.hard_facts is not None for one in hosts.values())
    update |= _facts(hosts) if all_known else {"fingerprint": "", "changed_facts": ()}
    return trial.model_copy(update=update)


def _processes(label: str, part: HostPart) -> Iterator[StartedProcess]:
    """Yield the processes of all but the first load tool's host, with their files as kept."""
    if part.loads or part.trial is None:
        return
    folder = part.before if part.before.endswith("/") else ""
    for process in part.trial.processes:
        warms = folder and process.label.startswith("warm-up")
        name = f"{label}-{process.label}" if warms else process.label
        files = {"stdout": f"{folder}{process.stdout}", "stderr": f"{folder}{process.stderr}"}
        yield process.model_copy(update={"label": name, **files})


def _placed(hosts: Mapping[str, HostPart]) -> ActualPlacement | None:
    """Return on which CPUs all hosts put their roles, and who stayed there; None where none did."""
    trials = [one.trial for one in hosts.values() if one.trial is not None]
    each = [trial.placement for trial in trials if trial.placement is not None]
    if not each:
        return None
    return ActualPlacement(
        cpus={role: cpus for one in each for role, cpus in one.cpus.items()},
        seen={label: count for one in each for label, count in one.seen.items()},
        elsewhere=tuple(stray for one in each for stray in one.elsewhere),
    )


def _host(part: HostPart) -> TrialHost:
    offset, bound = part.clock or (None, None)
    return TrialHost(
        address=part.facts.address,
        parts=part.parts,
        namespaces={} if part.trial is None else part.trial.namespaces,
        clock_offset_s=offset,
        clock_bound_s=bound,
        clock_moved_s=part.moved_s,
        received_bytes=part.traffic.get("received"),
        sent_bytes=part.traffic.get("sent"),
        dropped=part.traffic.get("dropped"),
        links=dict(part.links),
        links_at_first={name: part.facts.links[name] for name in part.links},
        started_s=part.started_s,
        reading=part.reading,
        observation=None if part.trial is None else part.trial.observation,
    )


def _facts(hosts: Mapping[str, HostPart]) -> dict[str, Any]:
    now: dict[str, JsonValue] = {k: dict(one.hard_facts or {}) for k, one in hosts.items()}
    server = next(label for label, one in hosts.items() if one.serves)
    then: dict[str, JsonValue] = {label: one.facts.facts for label, one in hosts.items()}
    return {
        "fingerprint": fingerprint({**(hosts[server].hard_facts or {}), "hosts": now}),
        "changed_facts": tuple(changes({"hosts": then}, {"hosts": now})),
    }


def _observation(trial: Trial, hosts: Mapping[str, HostPart], folder: Path) -> Observation | None:
    """Return what all parts used, computed from the rows of all hosts."""
    own = trial.observation
    seen = [one.trial.observation for one in hosts.values() if one.trial is not None]
    if own is None or None in seen:
        return None
    observations = [one for one in seen if one is not None]
    names = [f"{one.before}{USAGE}" for one in hosts.values()]
    text = _joined(rows_text(door.read(folder, name, MOST_BYTES)) for name in names)
    system = rows_text(door.read(folder, SYSTEM, MOST_BYTES))
    door.write(folder, USAGE, text.encode(), lasting=False)
    facts = own.model_copy(
        update={
            "usage": tuple(usage for one in observations for usage in one.usage),
            "counters": {},
            "foreign_connections": _WHY,
            "sampler_cpu_s": sum(one.sampler_cpu_s for one in observations),
            "unassigned_cpu_s": _sum(one.unassigned_cpu_s for one in observations),
            "unassigned_shared_bytes": _sum(one.unassigned_shared_bytes for one in observations),
            "machine": None,
        }
    )
    return recomputed(facts, text, system)


def _joined(texts: Iterable[str]) -> str:
    """Return tables of the same columns as one."""
    first, *others = texts
    return first + "".join(text.partition("\n")[2] for text in others)


def _sum(values: Iterable[Any]) -> Any:
    numbers = list(values)
    return None if None in numbers else sum(numbers)
