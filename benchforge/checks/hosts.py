"""Several machines: their links, clocks, load tools, and whether they are alike (H2 to H8, P1)."""

from collections.abc import Callable, Iterator, Sequence

from benchforge.checks.limits import Thresholds
from benchforge.checks.load_tool import loader
from benchforge.model.files.result import Header, hard
from benchforge.model.trial.check import Check, Status
from benchforge.model.trial.trial import Trial
from benchforge.model.values.case_name import Role
from benchforge.text.readable import amount, conjoined, counted, figure, percent

_WORST = ("pass", "unknown", "warn", "fail")
_ALIKE: tuple[Role, ...] = ("server", "loader")
_OfTrial = Callable[[Trial, Thresholds], Iterator[Check]]


def on_each(family: _OfTrial, trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield what a family says of each machine of a trial; of a trial without hosts, of it."""
    if not trial.hosts:
        yield from family(trial, limits)
    for label, host in trial.hosts.items():
        observation = host.observation
        parts = () if observation is None else observation.usage
        labels = {usage.label for usage in parts}
        for check in family(trial.model_copy(update={"observation": observation}), limits):
            if check.component in labels:
                yield check
                continue
            component = f"{label} {check.component}".strip()
            yield check.like(component=component, message=f"{label}: {check.message}")


def of_loader(trial: Trial) -> Trial:
    """Return the trial as the load tool's machine shows it."""
    for host in trial.hosts.values():
        observation = host.observation
        if observation is not None and any(usage.role == "loader" for usage in observation.usage):
            return trial.model_copy(update={"observation": observation})
    return trial


def of_trial(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield H3 to H6 and H8 of a trial on several hosts."""
    if len(trial.hosts) > 1:
        yield _link(trial, limits)
        yield from _as_before(trial, limits)
    for label in trial.hosts:
        yield _clock(trial, label, limits)
    if any(host.reading is not None for host in trial.hosts.values()):
        yield _starts(trial, limits)
        yield from _load_tools(trial, limits)


def _link(trial: Trial, limits: Thresholds) -> Check:
    """H3: the fullest link; what an interface carried may have gone to several hosts."""
    shares = {(share, source, target) for source, target, share in _shares(trial)}
    if not shares:
        reason = "how full the links between the hosts were is not known"
        return limits.check("H3", "behaviour", None, reason)
    share, source, target = max(shares)
    bandwidth = trial.hosts[source].links[target].bytes_per_s
    says = f"{source} to {target} carried {percent(share)} of the "
    says += f"{figure(bandwidth * 8 / 1e6)} Mbit/s that the link had before"
    status = limits["H3"].status(share)
    if status != "pass":
        says += ": the link was the limit, and not the server; use a faster one, or shorter answers"
    dropped = sum(host.dropped or 0 for host in trial.hosts.values())
    if dropped and status == "pass":
        says += f"; the interfaces dropped {counted(dropped, 'packet')}"
        status = "warn"
    return limits.check("H3", "behaviour", share, says, status)


def _shares(trial: Trial) -> Iterator[tuple[str, str, float]]:
    seconds = 0.0 if trial.observation is None else trial.observation.seconds
    for source, host in trial.hosts.items():
        for target, link in host.links.items():
            peer = trial.hosts.get(target)
            if peer is None or host.sent_bytes is None or peer.received_bytes is None:
                continue
            if seconds and link.bytes_per_s:
                carried = min(host.sent_bytes, peer.received_bytes)
                yield source, target, carried / seconds / link.bytes_per_s


def _as_before(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield H4: what a link has lost since the hosts were connected, the worst of both ways."""
    lost: list[tuple[float, str]] = []
    for source, host in trial.hosts.items():
        for target, link in host.links.items():
            if (first := host.links_at_first.get(target)) is None:
                continue
            slower = 1 - link.bytes_per_s / (first.bytes_per_s or 1)
            trip_s, first_s = link.round_trip_s, first.round_trip_s
            # A shorter delay than a response can show is that of a busy CPU.
            later = 1 - first_s / trip_s if trip_s - first_s > limits["H4"].number("delay_s") else 0
            mbit = f"{figure(link.bytes_per_s * 8e-6)} of {figure(first.bytes_per_s * 8e-6)} Mbit/s"
            trips = f"{amount('s', trip_s)} instead of {amount('s', first_s)}"
            says = f"{source} to {target}: {mbit}, round trip {trips}"
            lost.append((max(slower, later, 0.0), says))
    if lost:
        value, says = max(lost)
        says = f"the link just before the load as at first: {says}"
        advice = ": others use the network; use one for the hosts alone"
        yield limits.advised("H4", "apparatus", value, says, advice)


def _starts(trial: Trial, limits: Thresholds) -> Check:
    starts = [host.started_s for host in trial.hosts.values() if host.started_s is not None]
    bounds = [host.clock_bound_s or 0.0 for host in trial.hosts.values() if host.reading]
    seconds = 0.0 if trial.reading is None else trial.reading.seconds
    if len(starts) < len(bounds) or not seconds:
        return limits.check("H6", "apparatus", None, "when the load tools started is not known")
    apart = max(starts) - min(starts) + max(bounds)
    says = f"{counted(len(starts), 'load tool')} started within {amount('s', apart)}"
    advice = ": for that long not all of them sent; load for longer"
    return limits.advised("H6", "apparatus", apart / seconds, says, advice)


def _load_tools(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    tools = {label: host for label, host in trial.hosts.items() if host.reading is not None}
    for label, host in tools.items():
        load = trial.load
        if load is not None and load.rate is not None:
            load = load.model_copy(update={"rate": load.rate / len(tools)})
        of_host = {"reading": host.reading, "observation": host.observation, "load": load}
        checks = loader.of_trial(trial.model_copy(update=of_host), limits)
        judged = [check for check in checks if check.id in {"L1", "L4"}]
        for worst in sorted(judged, key=lambda check: _WORST.index(check.status))[-1:]:
            says, value = f"{label}: {worst.message}", worst.value
            yield limits.check("H8", "apparatus", value, says, worst.status).about(label)


def _clock(trial: Trial, label: str, limits: Thresholds) -> Check:
    host = trial.hosts[label]
    if host.clock_bound_s is None or host.clock_moved_s is None:
        reason = f"the clock of {label} was not compared before and after the load"
        return limits.check("H5", "apparatus", None, reason).about(label)
    moved = max(0.0, abs(host.clock_moved_s) - 2 * host.clock_bound_s)
    # Times of hosts are compared where several load tools start together, and nowhere else.
    several = any(value.reading is not None for value in trial.hosts.values())
    value = max(moved, host.clock_bound_s if several else 0.0)
    says = f"the clock of {label} is known to {amount('s', host.clock_bound_s)}"
    says += f" and moved by {amount('s', abs(host.clock_moved_s))} during the load"
    advice = ": times of different hosts cannot be compared; use a quieter network"
    return limits.advised("H5", "apparatus", value, says, advice).about(label)


def of_session(header: Header, trials: Sequence[Trial], limits: Thresholds) -> Iterator[Check]:
    """Yield H2, and P1 where hosts of a result are one machine."""
    yield from _alike(header, trials, limits)
    by_machine: dict[str, list[str]] = {}
    for label, host in header.hosts.items():
        boot = host.facts.get("boot")
        if isinstance(boot, str):
            by_machine.setdefault(boot, []).append(label)
    for labels in by_machine.values():
        if len(labels) > 1:
            says = f"hosts {conjoined(labels)} are one machine, and share its CPUs"
            says += ": use a machine for each"
            yield limits.check("P1", "apparatus", None, says, "warn").about(scope="result")


def _alike(header: Header, trials: Sequence[Trial], limits: Thresholds) -> Iterator[Check]:
    """Yield H2: hosts that have one role in a scenario, and what tells them apart."""
    by_role: dict[tuple[str, Role], dict[str, None]] = {}
    for trial in trials:
        for label, host in trial.hosts.items():
            usage_ = () if host.observation is None else host.observation.usage
            roles: set[Role] = {usage.role for usage in usage_ if usage.role in _ALIKE}
            for role in roles:
                by_role.setdefault((trial.case.scenario, role), {})[label] = None
    for (scenario, role), labels in by_role.items():
        if len(labels) < 2:  # noqa: PLR2004 - one is like itself
            continue
        facts = [hard(header.hosts[label].facts) for label in labels if label in header.hosts]
        names = sorted({name for fact in facts for name in fact} - {"machine_id"})
        other = [name for name in names if len({str(fact.get(name)) for fact in facts}) > 1]
        alike = f"differ: {conjoined(other)}" if other else "are alike"
        says = f"{scenario}: hosts {conjoined(labels)} of the role {role} {alike}"
        if role == "server":
            says += "; a difference between servers may be one between machines: use one host"
        status: Status = "warn" if other or role == "server" else "pass"
        yield limits.check("H2", "apparatus", None, says, status).about(scope="result")
