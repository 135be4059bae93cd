"""Several machines: the link between them, their clocks, and whether they are one (H3, H5, P1)."""

from collections.abc import Callable, Iterator, Sequence

from benchforge.checks.limits import Thresholds
from benchforge.model.files.result import Header
from benchforge.model.trial.check import Check
from benchforge.model.trial.trial import Trial
from benchforge.text.readable import amount, conjoined, counted, figure, percent

_OfTrial = Callable[[Trial, Thresholds], Iterator[Check]]


def on_each(family: _OfTrial, trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield what a family says of each machine of a trial; of a trial without hosts, of it."""
    if not trial.hosts:
        yield from family(trial, limits)
    for label, host in trial.hosts.items():
        seen = host.observation
        parts = () if seen is None else seen.usage
        labels = {usage.label for usage in parts}
        for check in family(trial.model_copy(update={"observation": seen}), limits):
            if check.component in labels:
                yield check
                continue
            of = f"{label} {check.component}".strip()
            update = {"component": of, "message": f"{label}: {check.message}"}
            yield check.model_copy(update=update)


def of_loader(trial: Trial) -> Trial:
    """Return the trial as the load tool's machine shows it."""
    for host in trial.hosts.values():
        seen = host.observation
        if seen is not None and any(usage.role == "loader" for usage in seen.usage):
            return trial.model_copy(update={"observation": seen})
    return trial


def of_trial(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield H3 and H5 of a trial on several hosts."""
    if len(trial.hosts) > 1:
        yield _link(trial, limits)
    for label in trial.hosts:
        yield _clock(trial, label, limits)


def _link(trial: Trial, limits: Thresholds) -> Check:
    """H3: the fullest link; what an interface carried may have gone to several hosts."""
    shares = {(share, one, other) for one, other, share in _shares(trial)}
    if not shares:
        why = "how full the links between the hosts were is not known"
        return limits.check("H3", "behaviour", None, why)
    share, one, other = max(shares)
    bandwidth = trial.hosts[one].links[other].bytes_per_s
    says = f"{one} to {other} carried {percent(share)} of the {figure(bandwidth * 8 / 1e6)} Mbit/s"
    says += " that the link had before"
    status = limits["H3"].status(share)
    if status != "pass":
        says += ": the link was the limit, and not the server; use a faster one, or shorter answers"
    dropped = sum(host.dropped or 0 for host in trial.hosts.values())
    if dropped and status == "pass":
        says += f"; the interfaces dropped {counted(dropped, 'packet')}"
        status = "warn"
    return limits.check("H3", "behaviour", share, says, status=status)


def _shares(trial: Trial) -> Iterator[tuple[str, str, float]]:
    """Yield from, to and at most what share of each link was used."""
    seconds = 0.0 if trial.observation is None else trial.observation.seconds
    for one, host in trial.hosts.items():
        for other, link in host.links.items():
            peer = trial.hosts.get(other)
            if peer is None or host.sent_bytes is None or peer.received_bytes is None:
                continue
            if seconds and link.bytes_per_s:
                carried = min(host.sent_bytes, peer.received_bytes)
                yield one, other, carried / seconds / link.bytes_per_s


def _clock(trial: Trial, label: str, limits: Thresholds) -> Check:
    """H5: how well the host's clock is known, and by how much more than that it moved."""
    host = trial.hosts[label]
    if host.clock_bound_s is None or host.clock_moved_s is None:
        why = f"the clock of {label} was not compared before and after the load"
        return limits.check("H5", "apparatus", None, why, component=label)
    moved = max(0.0, abs(host.clock_moved_s) - 2 * host.clock_bound_s)
    value = max(moved, host.clock_bound_s)
    says = f"the clock of {label} is known to {amount('s', host.clock_bound_s)}"
    says += f" and moved by {amount('s', abs(host.clock_moved_s))} during the load"
    if limits["H5"].status(value) != "pass":
        says += ": times of different hosts cannot be compared; use a quieter network"
    return limits.check("H5", "apparatus", value, says, component=label)


def of_session(header: Header, trials: Sequence[Trial], limits: Thresholds) -> Iterator[Check]:
    """Yield P1 where hosts of a result are one machine."""
    by_machine: dict[str, list[str]] = {}
    for label, host in header.hosts.items():
        boot = host.facts.get("boot")
        if isinstance(boot, str):
            by_machine.setdefault(boot, []).append(label)
    for labels in by_machine.values():
        if len(labels) > 1:
            says = f"hosts {conjoined(labels)} are one machine, and share its CPUs"
            says += ": use a machine for each"
            yield limits.check("P1", "apparatus", None, says, status="warn", scope="result")
