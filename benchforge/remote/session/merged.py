"""The parts of a trial from all hosts, as one trial; reports of several load tools as one.

Counts and histograms are added, percentiles never averaged. What one tool alone can tell is
unknown.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from benchforge.model.files.result import changes, fingerprint
from benchforge.model.suite.placement import ActualPlacement
from benchforge.model.trial.answers.monitor import Listener
from benchforge.model.trial.histogram import Histogram
from benchforge.model.trial.hosts import HostFacts, HostLink, TrialHost
from benchforge.model.trial.observation import Observation
from benchforge.model.trial.reading import Bodies, Reading, SampledBody, Schedule, Series
from benchforge.model.trial.rows import MOST_BYTES, SYSTEM, USAGE, rows_text
from benchforge.model.trial.trial import StartedProcess, Trial
from benchforge.model.values.bounds import MOST_VALUES
from benchforge.run.machine import placement
from benchforge.stats.observation import recomputed
from benchforge.text import door

_WHY = "the parts run on several hosts, whose counters are those of the hosts"
_ADDED = (
    *("unanswered", "received_bytes", "body_bytes", "promised_bytes", "connections"),
    *("other_lengths", "cpu_user_s", "cpu_system_s", "not_reached"),
    *("responses", "good_at_least", "good_at_most", "sampled_others", "byte_error", "censored"),
    *("test_connections", "stream_began_again"),
)
"Numbers, which are unknown of all where one tool does not report them."


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
    facts_now: dict[str, JsonValue] = {
        key: dict(host.hard_facts or {}) for key, host in hosts.items()
    }
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
    first, *others = (rows_text(door.read(folder, name, MOST_BYTES)) for name in names)
    text = first + "".join(other.partition("\n")[2] for other in others)
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


def _sum(values: Iterable[Any]) -> Any:
    numbers = list(values)
    return None if None in numbers else sum(numbers)


def merged_reading(readings: Sequence[Reading], starts: Sequence[float]) -> Reading:
    """Return the reading of all, from the first start to the last end.

    `starts` are the begins of their loads on one clock, in seconds.
    """
    first_s, first = min(starts), readings[0]
    ends = [start + reading.seconds for start, reading in zip(starts, readings, strict=True)]
    moved_s = [start - first_s for start in starts]
    with_bodies = (reading.bodies for reading in readings if reading.responses)
    censored_us = [each.censored_from_us for each in readings if each.censored_from_us is not None]
    return Reading(
        seconds=max(ends) - first_s,
        doubt=_joined(reading.doubt for reading in readings),
        by_length=_joined(reading.by_length for reading in readings),
        statuses=_counts(reading.statuses for reading in readings),
        own_requests=any(reading.own_requests for reading in readings),
        errors=_counts(reading.errors for reading in readings),
        overlapping_errors=any(reading.overlapping_errors for reading in readings),
        bodies=_totals(readings, "bodies", "status", "length") if all(with_bodies) else (),
        sampled=_totals(readings, "sampled", "status", "length", "sha256"),
        latency=_added([reading.latency for reading in readings]),
        latency_by_status=_by_name([reading.latency_by_status for reading in readings]),
        service_time=_added([reading.service_time for reading in readings]),
        phases=_by_name([reading.phases for reading in readings]),
        in_flight=_added([reading.in_flight for reading in readings]),
        series=_series([reading.series for reading in readings], moved_s),
        schedule=_schedule([reading.schedule for reading in readings]),
        censored_from_us=min(censored_us, default=None),
        method=_same(reading.method for reading in readings),
        document_bytes=_same(reading.document_bytes for reading in readings),
        server_software=first.server_software,
        kinds={
            label: merged_reading([reading.kinds[label] for reading in readings], starts)
            for label in first.kinds
            if all(label in reading.kinds for reading in readings)
        },
        records_taken=_all([reading.records_taken for reading in readings]),
        defects=tuple(dict.fromkeys(defect for reading in readings for defect in reading.defects)),
        **{name: _sum([getattr(reading, name) for reading in readings]) for name in _ADDED},
    )


def _joined(texts: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(filter(None, texts)))


def _all(counts: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Return what all threads report; nothing where one tool reports nothing."""
    return tuple(count for count_ in counts for count in count_) if all(counts) else ()


def _same(values: Iterable[Any]) -> Any:
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else None


def _counts(each: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for counts in each:
        total.update(counts)
    return dict(total)


def _added(histograms: Sequence[Histogram | None]) -> Histogram | None:
    known_histograms = [histogram for histogram in histograms if histogram is not None]
    return Histogram.added(known_histograms) if len(known_histograms) == len(histograms) else None


def _by_name(each: Sequence[Mapping[str, Histogram]]) -> dict[str, Histogram]:
    """Add what all have; a class of statuses that one never saw counts as empty there."""
    if not all(each):
        return {}
    names = dict.fromkeys(name for mapping in each for name in mapping)
    return {name: Histogram.added(table[name] for table in each if name in table) for name in names}


def _totals(readings: Sequence[Reading], field_name: str, *keys: str) -> tuple[Any, ...]:
    """Add the responses of the bodies in a field that are alike in their `keys`."""
    kinds: dict[Any, Bodies | SampledBody] = {}
    for body in (body for reading in readings for body in getattr(reading, field_name)):
        key = tuple(getattr(body, name) for name in keys)
        earlier = kinds.get(key)
        count = body.responses + (0 if earlier is None else earlier.responses)
        kinds[key] = (earlier or body).model_copy(update={"responses": count})
    return tuple(kinds.values())


def _series(each: Sequence[Series | None], later_s: Sequence[float]) -> Series | None:
    """Add the bins of all, each moved by how much later its load began."""
    known_series = [series for series in each if series is not None]
    if len(known_series) < len(each) or len({series.bin_s for series in known_series}) != 1:
        return None
    bin_s = known_series[0].bin_s
    moved = [round(later / bin_s) for later in later_s]
    if max(moved) > MOST_VALUES:
        return None

    def bins(counts: Iterable[Sequence[int]]) -> tuple[int, ...]:
        rows = ([0] * by + [*row] for by, row in zip(moved, counts, strict=True))
        return tuple(map(sum, zip_longest(*rows, fillvalue=0)))

    completed = bins(row.completed for row in known_series)
    return Series(bin_s=bin_s, completed=completed, errors=bins(row.errors for row in known_series))


def _schedule(each: Sequence[Schedule | None]) -> Schedule | None:
    schedules = [schedule for schedule in each if schedule is not None]
    if not schedules or len(schedules) < len(each):
        return None
    return Schedule(
        rate=sum(schedule.rate for schedule in schedules),
        intended=_sum([schedule.intended for schedule in schedules]),
        sent=_sum([schedule.sent for schedule in schedules]),
        lateness=_added([schedule.lateness for schedule in schedules]),
        queueing=_added([schedule.queueing for schedule in schedules]),
    )
