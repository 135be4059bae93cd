"""The parts of a trial from all hosts, as one trial."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
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

    It writes the usage of all parts into usage.csv of the folder.
    """
    others = [host.trial for host in hosts.values() if host.trial is not None and not host.loads]
    processes = (p for label, host in hosts.items() for p in _processes(label, host))
    update: dict[str, Any] = {
        "hosts": {label: _host(host) for label, host in hosts.items()},
        "processes": (*processes, *trial.processes),
        "exhaustions": (*(e for trial in others for e in trial.exhaustions), *trial.exhaustions),
        "observation": _observation(trial, hosts, folder),
    }
    apart = not any(host.loads and host.serves for host in hosts.values())
    if trial.listener is not None and apart:
        reason = "/proc does not show who listens on its port" if owns is None else ""
        address = trial.listener.address
        update["listener"] = Listener(address=address, is_server=owns, why=reason)
    if (placed := _placed(hosts)) is not None and update["observation"] is not None:
        check = placement.check(placed, update["observation"].usage)
        update |= {"placement": placed, "checks": (check, *trial.checks)}
    all_known = all(host.hard_facts is not None for host in hosts.values())
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
        stdout, stderr = f"{folder}{process.stdout}", f"{folder}{process.stderr}"
        yield replace(process, label=name, stdout=stdout, stderr=stderr)


def _placed(hosts: Mapping[str, HostPart]) -> ActualPlacement | None:
    """Return on which CPUs all hosts put their roles, and who stayed there; None where none did."""
    trials = [host.trial for host in hosts.values() if host.trial is not None]
    each = [trial.placement for trial in trials if trial.placement is not None]
    if not each:
        return None
    return ActualPlacement(
        cpus={role: cpus for placement_ in each for role, cpus in placement_.cpus.items()},
        seen={label: count for placement_ in each for label, count in placement_.seen.items()},
        elsewhere=tuple(stray for placement_ in each for stray in placement_.elsewhere),
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
    facts_now: dict[str, JsonValue] = {k: dict(host.hard_facts or {}) for k, host in hosts.items()}
    server = next(label for label, host in hosts.items() if host.serves)
    then: dict[str, JsonValue] = {label: host.facts.facts for label, host in hosts.items()}
    return {
        "fingerprint": fingerprint({**(hosts[server].hard_facts or {}), "hosts": facts_now}),
        "changed_facts": tuple(changes({"hosts": then}, {"hosts": facts_now})),
    }


def _observation(trial: Trial, hosts: Mapping[str, HostPart], folder: Path) -> Observation | None:
    """Return what all parts used, computed from the rows of all hosts."""
    observation_ = trial.observation
    seen = [host.trial.observation for host in hosts.values() if host.trial is not None]
    if observation_ is None or None in seen:
        return None
    observations = [observation for observation in seen if observation is not None]
    names = [f"{host.before}{USAGE}" for host in hosts.values()]
    text = _joined(rows_text(door.read(folder, name, MOST_BYTES)) for name in names)
    system = rows_text(door.read(folder, SYSTEM, MOST_BYTES))
    door.write(folder, USAGE, text.encode(), lasting=False)
    facts = observation_.model_copy(
        update={
            "usage": tuple(usage for observation in observations for usage in observation.usage),
            "counters": {},
            "foreign_connections": _WHY,
            "sampler_cpu_s": sum(observation.sampler_cpu_s for observation in observations),
            "unassigned_cpu_s": _sum(observation.unassigned_cpu_s for observation in observations),
            "unassigned_shared_bytes": _sum(each.unassigned_shared_bytes for each in observations),
            "after": next((each.after for each in observations if each.after), None),
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
