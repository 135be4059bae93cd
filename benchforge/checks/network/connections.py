"""TCP: keep-alive, backlog, retransmission, delayed ACKs, ports, descriptors (K1 to K7)."""

import json
from collections.abc import Iterator, Sequence

from benchforge.checks import seen
from benchforge.checks.limits import Thresholds
from benchforge.model.trial.check import Check, Status, Subject
from benchforge.model.trial.histogram import Histogram
from benchforge.model.trial.reading import Reading
from benchforge.model.trial.trial import Trial
from benchforge.text.readable import exact, figure, percent

_NO_PORT = ("cannot assign requested address", "address not available", "eaddrnotavail")
_RAISE = "raise limits.nofile in [tuning]"

_FROM, _TO = 38_000, 46_000
"Microseconds: Linux delays an acknowledgement for 40 ms at least."
_BELOW, _ABOVE = 20_000, 80_000
"Between these, and outside of those, is what the density is compared with."

_DROPPED = ("ListenOverflows", "ListenDrops", "TCPReqQFullDrop", "TCPReqQFullDoCookies")
_TURNED_AWAY = tuple(f"TcpExt{name}" for name in _DROPPED)
_RESET = "{:,} requests had no answer: their connections were reset, or never accepted"
_NO_COUNTERS = "the network's counters were not read"


def of_trial(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield what a measured trial shows."""
    yield keep_alive(trial, limits)
    yield backlog(trial, limits)
    yield retransmission(trial, limits)
    yield delayed(trial, limits)
    yield ports(trial, limits)
    yield from descriptors(trial, limits)
    yield right_process(trial, limits)


def of_comparison(cases: Sequence[Sequence[Trial]], limits: Thresholds) -> Iterator[Check]:
    """Yield what speaks against comparing cases: some kept connections, and others did not."""
    sides = seen.by_name(cases)
    if len(sides) <= 1:
        yield from seen.not_compared(cases, limits, "K1")
        return
    by_status: dict[Status, list[str]] = {"pass": [], "fail": [], "unknown": []}
    for name, trials in sides.items():
        checks = [keep_alive(trial, limits) for trial in trials]
        closes = any((check.status, check.subject) == ("fail", "behaviour") for check in checks)
        keeps = all(check.status == "pass" for check in checks)
        by_status["fail" if closes else "pass" if keeps else "unknown"].append(name)
    keeping, closed, unknown = (", ".join(names) for names in by_status.values())
    status: Status = "warn" if keeping and closed else "unknown" if unknown else "pass"
    says = {
        "warn": f"{keeping} kept connections alive, and {closed} closed them: a difference is also "
        "that of opening connections",
        "unknown": f"whether all kept connections alike is not known of {unknown}",
    }.get(status, "all treated connections alike")
    yield limits.check("K1", "behaviour", None, says, status).about(scope="comparison")


def opened(trial: Trial) -> tuple[int | None, str]:
    """Return how many connections the tool opened, or None and why that is not known."""
    if trial.reading is None or trial.observation is None:
        return None, seen.NOT_OBSERVED
    if trial.reading.connections is not None:
        return trial.reading.connections, ""
    if trial.observation.network != "private":
        reason = "the network's counters are those of the whole machine, and the tool tells none"
        return None, reason
    if trial.observation.foreign_connections:
        return None, trial.observation.foreign_connections
    counted = seen.grown(trial.observation, "TcpPassiveOpens")
    if counted is None:
        return None, _NO_COUNTERS
    return max(0, counted - trial.reading.test_connections), ""


def keep_alive(trial: Trial, limits: Thresholds) -> Check:
    """K1: whether connections were kept, or closed, as it was asked."""
    count, reason = opened(trial)
    load, reading = trial.load, trial.reading
    if load is None or load.keep_alive is None:
        reason = "whether the load tool was to keep connections is not known"
    elif load.keep_alive and load.connections is None:
        reason = "how many connections the load tool was to have is not known"
    if reason or count is None or load is None or reading is None:
        return limits.check("K1", "behaviour", None, f"keep-alive was not looked at: {reason}")
    sent = seen.requests(reading)
    limit = limits["K1"]
    carried = f"{exact(sent)} requests went over {exact(count)} connections"
    if not load.keep_alive:
        too_few = count < limit.number("without") * sent
        says = f"{carried}, one each as asked"
        if too_few:
            says = f"{carried}, although each was to be closed: "
            cut = _cut_off(trial, reading)
            few = count < limit.number("without") * (sent - cut)
            says += "the load tool used them again" if few else _RESET.format(cut)
        return limits.check("K1", "apparatus", count, says, "fail" if too_few else "pass")
    allowed = limit.number("above") * (load.connections or 0) + limit.number("spare")
    if count > allowed and sent < limit.number("reused") * count:
        says = f"keep-alive was asked for and not honoured: {carried}, where "
        says += f"{exact(load.connections)} were to be kept; set the server to keep "
        says += "them, or measure all without keep-alive"
        return limits.check("K1", "behaviour", count, says, "fail")
    return limits.check("K1", "behaviour", count, f"{carried}: kept alive", "pass")


def _cut_off(trial: Trial, reading: Reading) -> int:
    """Return how many requests lost their connection, as far as tool or kernel counted them."""
    counted = [n for name, n in reading.errors.items() if name not in {"status", "body"}]
    resets = seen.grown(trial.observation, "TcpEstabResets") or 0
    return max([*counted, reading.unanswered or 0, resets])


def backlog(trial: Trial, limits: Thresholds) -> Check:
    """K2: whether a queue of new connections was full."""
    observation = trial.observation
    count = seen.grown(observation, *_TURNED_AWAY)
    if observation is None or count is None:
        return limits.check("K2", "behaviour", None, f"the backlog is not known: {_NO_COUNTERS}")
    if not count:
        return limits.check("K2", "behaviour", count, "no connection was turned away")
    counters = observation.counters
    grew = ", ".join(f"{name} {exact(counters[name])}" for name in _TURNED_AWAY if name in counters)
    says = f"a queue of new connections was full ({grew}): some waited for seconds, and a rate "
    says += "says nothing of them; raise the server's backlog, or use fewer connections"
    subject: Subject = "behaviour"
    if trial.turns is not None:
        subject = "apparatus"
        says += (
            "; they also waited in the turns of others, so that turns show less of it than alone: "
            'or measure it without turns: interleave = "off"'
        )
    if observation.network != "private":
        says += "; counted was the whole machine: it may have been another server's"
        return limits.check("K2", subject, count, says, "warn")
    return limits.check("K2", subject, count, says)


def retransmission(trial: Trial, limits: Thresholds) -> Check:
    """K3: whether something was sent again, on a network that loses nothing."""
    observation = trial.observation
    again = seen.grown(observation, "TcpRetransSegs", "TcpExtTCPSynRetrans")
    if observation is None or again is None:
        says = f"retransmission is not known: {_NO_COUNTERS}"
        return limits.check("K3", "apparatus", None, says).about(invalidates="latency")
    late = observation.counters.get("TcpExtTCPTimeouts", 0)
    # A full queue of the server drops what opens a connection: then it is sent again.
    turned_away = seen.grown(observation, *_TURNED_AWAY)
    about: Subject = "behaviour" if turned_away else "apparatus"
    if not again and not late:
        says = "no segment was sent again"
        return limits.check("K3", about, 0, says).about(invalidates="latency")
    segments = observation.counters.get("TcpRetransSegs", 0)
    sent = observation.counters.get("TcpOutSegs", 0)
    share = max(again, late) / sent if sent else 1.0
    total = f"{exact(segments)} of {exact(sent)}" if sent else exact(segments)
    says = f"{total} segments were sent again, {exact(late)} times after a time-out"
    if not late and limits["K3"].status(share) == "pass":
        return limits.check("K3", about, share, says).about(invalidates="latency")
    says += ": "
    if turned_away:
        says += "the server's queue of connections was full; raise its backlog"
    elif late:
        says += "some response times hold 200 ms and more of it; give the trial a quiet machine"
    else:
        says += "acknowledgements came late, as on a busy machine; give the trial a quiet one"
    status: Status = "fail" if late > 0 and observation.network == "private" else "warn"
    if observation.network != "private":
        says += "; counted was the whole machine"
    return limits.check("K3", about, share, says, status).about(invalidates="latency")


def right_process(trial: Trial, limits: Thresholds) -> Check:
    """K7: whether the process that was started answered."""
    listener = trial.listener
    if listener is None:
        return limits.check("K7", "apparatus", None, "who answered was not looked at")
    status: Status = "pass" if listener.is_server else "fail"
    says = f"what was started listened at {listener.address}, before the load and after it"
    if listener.is_server is None:
        status = "unknown"
        says = f"whose process answered at {listener.address} is not known: {listener.why}"
    elif not listener.is_server:
        says = f"another process than what was started listened at {listener.address}; end that one"
    return limits.check("K7", "apparatus", None, says, status)


def delayed(trial: Trial, limits: Thresholds) -> Check:
    """K4: whether many responses took as long as an acknowledgement is delayed."""
    reading, limit = trial.reading, limits["K4"]
    acks = None if reading is None else _acks(trial, reading)
    times = None if reading is None else reading.service_time or reading.latency
    few_acks = acks is not None and acks <= limit.number("acks")
    if times is None or not times.counts:
        return _without_times(acks, few_acks=few_acks, limits=limits)
    share, density = crowded(times)
    counted = "" if acks is None else f", with {figure(acks)} delayed acknowledgements each"
    crowd = f"{percent(share)} of the responses took 38 to 46 ms"
    if limit.status(share) == "pass" or density <= limit.number("times"):
        sooner = times.between(0, _FROM) / times.count
        if not few_acks and sooner < limit.number("sooner"):
            # A busy machine smears the crowd. What is slow by itself delays few: 0 of 196 at 60 ms.
            says = f"{crowd}, {percent(sooner)} took less{counted}: whether the others waited is "
            says += "not known"
            return _check(limits, None, says, "unknown")
        says = f"{crowd}: no crowd at the 40 ms of a delayed acknowledgement"
        return _check(limits, share, says, "pass")
    if few_acks:
        says = f"{crowd}, and hardly any acknowledgement was delayed: the server takes so long"
        return _check(limits, share, says, "pass")
    says = f"{crowd}{counted}: that is how long a second small write waits for the acknowledgement "
    says += "of the first; set TCP_NODELAY on the server's sockets, or write each response at once"
    return _check(limits, share, says, "fail")


def crowded(times: Histogram) -> tuple[float, float]:
    """Return the share of 38 to 46 ms, and its density over the mean one of 20 to 80 ms around."""
    inside = times.between(_FROM, _TO)
    around = times.between(_BELOW, _FROM) + times.between(_TO, _ABOVE)
    neighbours = around / (_ABOVE - _BELOW - (_TO - _FROM))
    alone = float("inf") if inside else 0.0
    density = inside / (_TO - _FROM) / neighbours if neighbours else alone
    return inside / times.count, density


def _acks(trial: Trial, reading: Reading) -> float | None:
    observation = trial.observation
    if observation is None or observation.network != "private" or not seen.requests(reading):
        return None
    count = seen.grown(observation, "TcpExtDelayedACKs")
    return None if count is None else count / seen.requests(reading)


def _without_times(acks: float | None, *, few_acks: bool, limits: Thresholds) -> Check:
    if few_acks:
        return _check(limits, None, "hardly any acknowledgement was delayed", "pass")
    says = "the tool tells no distribution of response times, and "
    if acks is None:
        says += "delayed acknowledgements were not counted"
    else:
        says += f"{figure(acks)} acknowledgements were delayed for each request"
    return _check(limits, None, f"{says}: whether responses waited is not known", "unknown")


def _check(limits: Thresholds, value: float | None, says: str, status: Status) -> Check:
    return limits.check("K4", "behaviour", value, says, status).about(invalidates="latency")


def ports(trial: Trial, limits: Thresholds) -> Check:
    """K5: whether there were ports for new connections."""
    claims = "" if trial.reading is None else json.dumps(trial.reading.printed).lower()
    complaints = [row.line for row in trial.exhaustions if row.resource == "ports"]
    complaint = next(iter([*complaints, *(phrase for phrase in _NO_PORT if phrase in claims)]), "")
    machine, share = seen.machine_of(trial), None
    if machine and machine.time_wait_sockets is not None and machine.ephemeral_ports is not None:
        share = machine.time_wait_sockets / machine.ephemeral_ports
    fix = "keep connections alive, load for a shorter time, or widen net.ipv4.ip_local_port_range"
    if complaint:
        says = f"there were no ports left for new connections ({complaint!r}): {fix}"
        return limits.check("K5", "apparatus", share, says, "fail")
    if machine is None or share is None:
        reason = seen.NOT_LOOKED_AT if machine is None else "the kernel does not tell"
        return limits.check("K5", "apparatus", None, f"how many ports waited: {reason}")
    sockets, ports = machine.time_wait_sockets, machine.ephemeral_ports
    wait = f"{exact(sockets)} sockets of {exact(ports)} ports waited in TIME_WAIT"
    return limits.advised("K5", "apparatus", share, wait, f": {fix}")


def descriptors(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """K6: whether each part may open as many files as the load needs."""
    connections = None if trial.load is None else trial.load.connections
    lines = {row.label: row.line for row in trial.exhaustions if row.resource == "descriptors"}
    for usage in seen.of_roles(trial, "server", "upstream", "loader"):
        line = lines.pop(usage.label, "")
        spare = None
        if connections is not None and usage.open_files_limit is not None:
            spare = usage.open_files_limit - connections
        suffices = spare is not None and limits["K6"].status(spare) == "pass"
        if line:
            # With a limit that was high enough for the load, it used what it need not have used.
            subject: Subject = "behaviour" if suffices and usage.role != "loader" else "apparatus"
            says = f"{usage.label} had no descriptors left ({line!r}); {_RAISE}"
            yield limits.check("K6", subject, spare, says, "fail").about(usage.label)
            continue
        says = f"{usage.label} may open {exact(usage.open_files_limit)} files"
        if usage.open_files_limit is None:
            says = seen.why_unknown(usage, "the limit of descriptors")
        elif spare is None:
            says += "; the connections are not known"
        else:
            says += f", for {exact(connections)} at once"
            says += "" if suffices else f": too few beside its own; {_RAISE}"
        # What a load tool raises by itself was not yet seen when it had just begun.
        raises = spare is not None and not suffices and usage.role == "loader"
        status: Status | None = "warn" if raises else None
        yield limits.check("K6", "apparatus", spare, says, status).about(usage.label)
    for label, line in lines.items():
        says = f"{label} had no descriptors left ({line!r}); {_RAISE}"
        yield limits.check("K6", "apparatus", None, says, "fail").about(label)
