"""Identities of rates, durations, and numbers of requests, bytes and ports."""

from benchforge.cli.results.audit.facts import (
    ASKED_S,
    ASKED_SHARE,
    Interval,
    amount,
    byte_slip,
    interval,
    number,
    rate,
    shown,
    times_off,
    value,
    word,
)
from benchforge.cli.results.audit.finding import Evidences, Finding, check
from benchforge.parts.reader import Fact, Row
from benchforge.results.validity.identities import MORE
from benchforge.text import readable

_EXACT = 0.01
_HEAD_B = 17
"Bytes of the shortest head of HTTP/1."
_BITS = 8
_PORTS = 65_536 - 1024
_WAIT_S = 60.0
"Linux keeps a connection in TIME_WAIT for that time, on the side that closes it."


@check("AC1", "impossible", "requests, duration and rate do not fit")
def rate_times_duration(row: Row) -> Evidences:
    """Rate x duration is the number of requests."""
    rates, requests = interval(row, "rate"), interval(row, "requests")
    lasted = number(row, "duration") or number(row, "duration_asked")
    if rates is None or requests is None or lasted is None or not lasted.value:
        return None
    setting = lasted.estimator == "asked" or "duration" not in row.facts
    need = requests / rates
    # A load that was set to a duration ends with the responses that are then under way.
    late_s = ASKED_S + max(2 * value(row, "mean"), value(row, "p99"), value(row, "max"))
    slack = ASKED_SHARE + late_s / float(lasted.value) if setting else _EXACT
    low, high = lasted.low * (1 - slack), lasted.high * (1 + slack)
    if low <= need.high and need.low <= high:
        return []
    really = value(row, "requests") / value(row, "rate")
    implied = value(row, "requests") / float(lasted.value)
    stated = f"{readable.exact(value(row, 'requests'))} requests / {shown(lasted)}"
    row_rate = readable.exact(value(row, "rate"))
    return Finding(
        f"{stated} = {readable.exact(implied)}/s, but the row has {row_rate}/s",
        true_if=f"the load lasted {readable.figure(really, 4)} s, not {shown(lasted)}"
        + ", or the rate were called that of a part of it"
        * (setting and implied < value(row, "rate")),
        severity="false field" if setting else "impossible",
        factor=times_off(really, float(lasted.value)),
        instead=-1.0 if setting else implied,
    )


@check("AC2", "false field", "the load was shorter than its duration")
def wall_clock(row: Row) -> Evidences:
    """A load with a start and an end lasts as long as it was set to."""
    wall, setting = number(row, "wall"), number(row, "duration_asked")
    if wall is None or setting is None:
        return None
    if wall.high >= float(setting.value) * (1 - ASKED_SHARE):
        return []
    return Finding(
        f"{shown(wall)} from its start to its end, but the duration is {shown(setting)}",
        true_if=f"the load lasted {shown(wall)}, not {shown(setting)}",
    )


@check("AC3", "impossible", "two rates of one load are of different durations")
def same_length(row: Row) -> Evidences:
    """Two rates of one load are of the same duration."""
    requests, rates = interval(row, "requests"), interval(row, "rate")
    iterations, per = interval(row, "iterations"), interval(row, "iteration_rate")
    if requests is None or rates is None or iterations is None or per is None:
        return None
    first, second = requests / rates, iterations / per
    if first.low <= second.high * (1 + _EXACT) and second.low <= first.high * (1 + _EXACT):
        return []
    lasted, other = amount(first.low, "s"), amount(second.low, "s")
    numbers = f"requests / rate = {lasted}, iterations / rate = {other}"
    return Finding(numbers, true_if="the numbers are of different runs")


@check("AC4", "impossible", "one number is counted twice, and differs")
def totals(row: Row) -> Evidences:
    """Two counts of one quantity are equal."""
    pairs = (
        ("requests", "status_total", "responses of all statuses"),
        ("samples", "samples_listed", "samples in the last row of the percentiles"),
    )
    checked = [
        (total, parts, words)
        for entry, other, words in pairs
        if (total := number(row, entry)) is not None and (parts := number(row, other)) is not None
    ]
    if not checked:
        return None
    true_if = "the two numbers are of different runs"
    return [
        Finding(f"{shown(total)} in all, but {shown(parts)} {words}", true_if=true_if)
        for total, parts, words in checked
        if parts.low > total.high or parts.high < total.low
    ]


@check("AC5", "impossible", "the throughput is not that of the successes")
def successes(row: Row) -> Evidences:
    """Vegeta's throughput is its successes in the time of attack and wait."""
    good, share = interval(row, "good_rate"), number(row, "success")
    requests, lasted = interval(row, "requests"), number(row, "duration")
    if good is None or share is None or requests is None or lasted is None:
        return None
    total_s = Interval(lasted.low + value(row, "wait"), lasted.high + value(row, "wait"))
    if total_s.low <= 0:
        return None
    need = Interval(max(0.0, share.low), share.high) * requests / total_s
    if good.low <= need.high * (1 + _EXACT) and good.high >= need.low * (1 - _EXACT):
        return []
    return Finding(
        f"{readable.percent(float(share.value))} of {shown(row.facts['requests'])} requests in "
        f"{amount(total_s.low, 's')} = {readable.exact(need.low)}/s, but the row has "
        f"{readable.exact(good.low)}/s",
        true_if="the numbers are of different runs",
    )


@check("AC7", "impossible", "a number is negative")
def negative(row: Row) -> Evidences:
    """No count, rate, size or time is negative."""
    numbers = {name: fact for name in row.facts if (fact := number(row, name)) and fact.high < 0}
    true_if = "its sign is an error of the tool, or of a later edit"
    return [
        Finding(f"{name} is {shown(fact)}", "", true_if, where=fact.origin or row.where)
        for name, fact in numbers.items()
    ] or None  # numbers above 0 are no identity that holds


@check("AB1", "impossible", "bytes, duration and bytes per second do not fit")
def bytes_per_second(row: Row) -> Evidences:
    """Bytes / duration is the number of bytes per second."""
    per, total = interval(row, "byte_rate"), interval(row, "bytes")
    lasted = interval(row, "duration")
    if per is None or total is None or lasted is None:
        return None
    if row.facts["duration"].estimator == "asked":
        return None
    need = total / lasted
    if per.low <= need.high * MORE and per.high >= need.low / MORE:
        return []
    slip = byte_slip(value(row, "byte_rate") * value(row, "duration") / value(row, "bytes"))
    slip = f", or {slip}" if slip else ""
    stated = f"{shown(row.facts['bytes'])} / {shown(row.facts['duration'])}"
    return Finding(
        f"{stated} = {amount(need.low, 'B/s')}, but the row has {shown(row.facts['byte_rate'])}",
        true_if=f"the load lasted {amount((total / per).low, 's')}{slip}",
    )


@check("AB2", "unsupported", "responses are shorter than the right one")
def body(row: Row) -> Evidences:
    """A response is at least as long as its body and the shortest head; bodies have its length."""
    right, count, total = number(row, "body"), interval(row, "requests"), interval(row, "bytes")
    good = value(row, "2xx") if right and "body_bytes" in row.facts else 0.0
    if right and good and not any(value(row, f"{kind}xx") for kind in "1345"):
        sent = row.facts["body_bytes"]
        mean_b = float(sent.value) / good
        if sent.low / MORE <= good * float(right.value) <= sent.high * MORE:
            return []
        return Finding(
            f"{readable.exact(good)} bodies have {amount(mean_b, 'B')} each, not {shown(right)}",
            true_if="they are compressed, or answer something else",
            title="responses have another length than the right one",
            factor=times_off(mean_b, float(right.value)),
        )
    if count is None or total is None:  # of a second, as well as of the load
        count, total = rate(row), interval(row, "byte_rate")
    if right is None or count is None or total is None:
        return None
    if not word(row, "protocol").startswith("HTTP/1"):
        return None
    each = total / count
    least = int(right.value) + _HEAD_B
    if each.high >= least:
        return []
    return Finding(
        f"{amount(total.high, 'B')} / {readable.exact(count.low)} responses = "
        f"{readable.figure(each.high)} B each; a head and a body of {shown(right)} take "
        f"{readable.exact(least)} B at least",
        "responses are not compressed",
        f"{readable.percent(1 - each.high / least)} of the content was missing or compressed",
    )


@check("AB3", "impossible", "more bytes arrived than the link carries")
def link(row: Row) -> Evidences:
    """No more bytes arrive than the link carries."""
    most = number(row, "link")
    per = interval(row, "byte_rate")
    if per is None:
        total, lasted = interval(row, "bytes"), interval(row, "duration")
        per = None if total is None or lasted is None else total / lasted
    if most is None or per is None:
        return None
    if per.low <= float(most.value) * MORE:
        return []
    bits = ", or these were bits, not bytes" if per.low / _BITS <= float(most.value) else ""
    true_if = f"the load went over loopback, or over a faster link{bits}"
    numbers = f"{amount(per.low, 'B/s')} > {shown(most)}"
    return Finding(numbers, f"a link of {shown(most)}, by the auditor", true_if)


@check("AU1", "impossible", "more CPUs were used than there are")
def cpu(row: Row) -> Evidences:
    """No more CPUs are used than there are."""
    used, cores = number(row, "cpu"), number(row, "cores")
    if used is None or cores is None:
        return None
    if used.low <= float(cores.value) * MORE:
        return []
    numbers = f"{_cores(used)} > {_cores(cores)}"
    true_if = f"the machine has {readable.exact(used.low)} CPUs or more"
    return Finding(numbers, f"{_cores(cores)}, by the auditor", true_if)


@check("AK2", "unsupported", "more connections were opened than one address has ports")
def ports(row: Row) -> Evidences:
    """A client has the ports for its new connections."""
    connects, lasted = number(row, "connects"), interval(row, "duration")
    if connects is None or lasted is None or word(row, "closer") == "server":
        return None
    most = _PORTS * (1 + lasted.high / _WAIT_S)
    if connects.low <= most:
        return []
    addresses = -(-connects.low // most)
    return Finding(
        f"{readable.exact(float(connects.value))} connections in "
        f"{shown(row.facts['duration'])}; an address has {_PORTS:,} ports, and each is in use "
        f"for {_WAIT_S:g} s after its connection: {readable.exact(round(most))} at most",
        "the load came from one address to one port, and the client closed the connections",
        f"the server closed the connections, the client reset them, its kernel reused ports "
        f"earlier (tcp_tw_reuse), or the load came from {readable.exact(addresses)} addresses",
    )


def _cores(fact: Fact) -> str:
    return f"{readable.exact(float(fact.value))} CPUs"
