"""How far a trial can be kept apart from the machine: as one was just tried."""

from collections.abc import Iterator
from pathlib import Path

from benchforge.cli.machine.doctor.finding import MachineFinding, ok, unknown, warn
from benchforge.run.machine.cpu_ticks import number, text
from benchforge.run.sandbox.sandbox import Mode

_WITHOUT_NETWORK = (
    "counts include connections of others, ports are shared, and [tuning] sysctl is refused"
)
_WITHOUT_PROCESSES = "a process that hides may outlive its trial"
_ALLOWING = "allow user namespaces: sysctl user.max_user_namespaces=10000, or run as root"


def findings(root: Path, mode: Mode | str) -> Iterator[MachineFinding]:
    """Yield what a trial of its own has; `mode` is of one that was tried, or why it was not."""
    if isinstance(mode, str):
        yield unknown("own processes", mode)
        yield unknown("own network", mode)
    else:
        why = "; ".join(mode.weaker)
        if mode.pid_namespace:
            yield ok("own processes", "each trial has private processes and mounts")
        else:
            yield warn("own processes", f"{why}: {_WITHOUT_PROCESSES}", _ALLOWING)
        if mode.network == "private":
            yield ok("own network", "each trial has one, whose counters are exact")
        else:
            yield warn("own network", f"{why}: {_WITHOUT_NETWORK}", _ALLOWING)
    yield _users(root)


def _users(root: Path) -> MachineFinding:
    most = number(text(root, "proc/sys/user/max_user_namespaces"))
    if most is None:
        return unknown("user namespaces", "the kernel does not say how many there may be")
    forbidden = {
        "user.max_user_namespaces=10000": most == 0,
        "kernel.unprivileged_userns_clone=1": _is(root, "unprivileged_userns_clone", "0"),
        "kernel.apparmor_restrict_unprivileged_userns=0": _is(
            root, "apparmor_restrict_unprivileged_userns", "1"
        ),
    }
    cures = [cure for cure, applies in forbidden.items() if applies]
    if cures:
        says = "forbidden, at least to ordinary users: their trials share the machine's network"
        return warn("user namespaces", says, f"sysctl {' '.join(cures)}")
    return ok("user namespaces", f"{most} allowed")


def _is(root: Path, name: str, value: str) -> bool:
    return text(root, f"proc/sys/kernel/{name}") == value
