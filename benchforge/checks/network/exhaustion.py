"""Ports and descriptors that run out (K5, K6)."""

import json
from collections.abc import Iterator

from benchforge.checks.limits import Thresholds
from benchforge.checks.seen import NOT_LOOKED_AT, of_roles, why_unknown
from benchforge.model.trial.check import Check
from benchforge.model.trial.trial import Trial
from benchforge.text.readable import exact

_NO_PORT = ("cannot assign requested address", "address not available", "eaddrnotavail")
_RAISE = "raise limits.nofile in [tuning]"


def ports(trial: Trial, limits: Thresholds) -> Check:
    """K5: whether there were ports for new connections."""
    complaint = next((one.line for one in trial.exhaustions if one.resource == "ports"), "")
    claims = "" if trial.reading is None else json.dumps(trial.reading.printed).lower()
    complaint = complaint or next((phrase for phrase in _NO_PORT if phrase in claims), "")
    machine = None if trial.observation is None else trial.observation.machine
    share = None
    if (
        machine is not None
        and machine.time_wait_sockets is not None
        and machine.ephemeral_ports is not None
    ):
        share = machine.time_wait_sockets / machine.ephemeral_ports
    remedy = (
        "keep connections alive, load for a shorter time, or widen net.ipv4.ip_local_port_range"
    )
    if complaint:
        says = f"there were no ports left for new connections ({complaint!r}): {remedy}"
        return limits.check("K5", "apparatus", share, says, status="fail")
    if machine is None or share is None:
        why = NOT_LOOKED_AT if machine is None else "the kernel does not tell"
        return limits.check("K5", "apparatus", None, f"how many ports waited: {why}")
    sockets, ports = machine.time_wait_sockets, machine.ephemeral_ports
    wait = f"{exact(sockets)} sockets of {exact(ports)} ports waited in TIME_WAIT"
    bad = limits["K5"].status(share) != "pass"
    return limits.check("K5", "apparatus", share, f"{wait}: {remedy}" if bad else wait)


def descriptors(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """K6: whether each part may open as many files as the load needs."""
    connections = None if trial.load is None else trial.load.connections
    lines = {one.label: one.line for one in trial.exhaustions if one.resource == "descriptors"}
    for usage in of_roles(trial, "server", "upstream", "loader"):
        line = lines.pop(usage.label, "")
        spare = None
        if connections is not None and usage.open_files_limit is not None:
            spare = usage.open_files_limit - connections
        enough = spare is not None and limits["K6"].status(spare) == "pass"
        if line:
            # With a limit that was high enough for the load, it used what it need not have used.
            its_own = enough and usage.role != "loader"
            says = f"{usage.label} had no descriptors left ({line!r}); {_RAISE}"
            yield limits.check(
                "K6", "behaviour" if its_own else "apparatus", spare, says, status="fail"
            ).about(usage.label)
        elif usage.open_files_limit is None:
            says = why_unknown(usage, "the limit of descriptors")
            yield limits.check("K6", "apparatus", None, says).about(usage.label)
        elif spare is None:
            may = f"{usage.label} may open {exact(usage.open_files_limit)} files"
            says = f"{may}; the connections are not known"
            yield limits.check("K6", "apparatus", None, says).about(usage.label)
        else:
            may = f"{usage.label} may open {exact(usage.open_files_limit)} files"
            says = f"{may}, for {exact(connections)} at once"
            # What a load tool raises by itself was not yet seen when it had just begun.
            raises = not enough and usage.role == "loader"
            yield limits.check(
                "K6",
                "apparatus",
                spare,
                says if enough else f"{says}: too few beside its own; {_RAISE}",
                status="warn" if raises else None,
            ).about(usage.label)
    for label, line in lines.items():
        says = f"{label} had no descriptors left ({line!r}); {_RAISE}"
        yield limits.check("K6", "apparatus", None, says, status="fail").about(label)
