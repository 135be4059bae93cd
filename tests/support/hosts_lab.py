"""Hosts for tests: network namespaces on a bridge, each with an OpenSSH server of its own.

They stand in the test's own place, whose network has the bridge. A machine that refuses it says so.
The variable LACKS names a capability that no session on them has.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from faults.watched import children, until
from front_door import PROGRAMS, WAITS_S, Told, bench_words, calls, captured, lack, needed

from benchforge.run.locate import libraries, locate

NET = "10.77.0"
PYTHON = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
_HOST = """
set -e
mount --make-rprivate /
mount -t tmpfs tmpfs /run
mkdir -m 755 /run/sshd
{ grep -Ev '^(sshd|root):' /etc/passwd; echo root:x:0:0:root:/root:/bin/sh;
echo sshd:x:105:65534::/run/sshd:/bin/false; } >"$FOLDER/passwd"
mount --bind "$FOLDER/passwd" /etc/passwd
ip link set lo up
until ip link show eth0 >/dev/null 2>&1; do sleep 0.05; done
ip addr add "$ADDRESS/24" dev eth0
ip link set eth0 up
exec ${LACKS:+setpriv --bounding-set="-$LACKS" --} "$SSHD" -D -e -f "$FOLDER/sshd_config"
"""


WAITRESS = 'use = "waitress"\napp = "hello_wsgi"'
PACE = 'use = "pace"\nconnections = 2'


def one_server(seconds: int, server: str = WAITRESS, loader: str = PACE, blocks: int = 1) -> str:
    """Return a suite of one server, on the host `app`, and its load tool, on the host `load`.

    The tables of the engine and of the hosts come after it. Each trial is measured once.
    """
    return f"""
benchforge = 1
smoke = true
placement.hosts = {{ loader = "load", server = "app" }}
scenarios.hello = {{ servers = ["server"], loaders = ["tool"] }}
repeat = {{ blocks = {blocks}, quiet = "off" }}
[servers.server]
{server}
[loaders.tool]
{loader}
duration = "{seconds}s"
"""


def program(folder: Path, name: str, text: str) -> None:
    """Write a server of a suite's folder `code`, beside what small servers share."""
    (folder / "code").mkdir(exist_ok=True)
    (folder / "code" / name).write_text(text)
    shutil.copy(PROGRAMS / "servers/answerer.py", folder / "code")


@dataclass(frozen=True)
class Lab:
    """Hosts that can be connected to."""

    folder: Path
    environment: dict[str, str]
    "What benchforge's own environment has to be."
    addresses: dict[str, str]
    pids: dict[str, int]
    "The first process of each host."
    variables: Mapping[str, str]
    "Variables that sessions on all hosts have."

    def table(self, label: str) -> str:
        """Return the TOML of a host."""
        lines = (f"[hosts.{label}]", f'ssh = "{label}"', f'address = "{self.addresses[label]}"')
        return "\n".join([*lines, f'python = "{PYTHON}"', ""])

    def session(self, label: str) -> dict[str, str]:
        """Return the variables of a session on a host."""
        return _session(self.folder / label, self.variables)

    def inside(self, label: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a program on a host, by another way than ssh."""
        enter = ["nsenter", "-t", str(self.pids[label]), "-n", "-m", "-p", "--", *words]
        return captured(enter, timeout=WAITS_S)

    def link(self, label: str, state: str) -> None:
        """Cut a host's network, or mend it."""
        _ip("link", "set", f"v-{label}", state)

    def running(self, label: str) -> list[str]:
        """Return the command lines of all that runs on a host, but for its sshd and our look."""
        lines = self.inside(label, "ps", "-wweo", "args", "--no-headers").stdout.splitlines()
        mine = ("sshd", "ps -wweo", "sh -c", "unshare", "/bin/sh")
        return [line for line in lines if not line.strip().startswith(mine) and "sshd" not in line]


def told_by(
    environment: Mapping[str, str], folder: Path, *words: str | Path, code: int | None = None
) -> Told:
    """Return what benchforge tells with an environment, after this exit code if one is given."""
    return calls(bench_words(), folder, environment)(*words, code=code)


def clean(hosts: Lab, labels: Sequence[str] = ()) -> None:
    """Wait until nothing of benchforge's runs on hosts, on all of them if none is named."""
    deadline = time.monotonic() + WAITS_S
    while rest := [
        line
        for label in labels or hosts.addresses
        for line in hosts.running(label)
        if "dask_worker" not in line
    ]:
        assert time.monotonic() < deadline, rest
        time.sleep(0.2)


@contextlib.contextmanager
def lab(
    folder: Path, labels: Sequence[str], variables: Mapping[str, str] | None = None
) -> Iterator[Lab]:
    """Give hosts until the test ends, whose sessions have further `variables`."""
    needed("sshd", "ssh", "ssh-keygen", "ip", "nsenter", "unshare")
    if os.geteuid() != 0:
        lack("several hosts: an ordinary user cannot start sshd with its own users: run as root")
    if not _alone():
        lack("several hosts: run in a network of its own: tests/support/own_place.py pytest")
    _key(folder / "user")
    addresses = {label: f"{NET}.{number}" for number, label in enumerate(labels, 1)}
    with contextlib.ExitStack() as stack:
        if _ip("link", "add", "br0", "type", "bridge").returncode:
            lack("several hosts: this machine refuses a bridge in a network of our own")
        stack.callback(_ip, "link", "del", "br0")
        _ip("addr", "add", f"{NET}.250/24", "dev", "br0")
        _ip("link", "set", "br0", "up")
        pids = {
            item: stack.enter_context(_host(folder, item, address, variables or {}))
            for item, address in addresses.items()
        }
        config = _client(folder, addresses)
        environment = {**os.environ, "BENCHFORGE_SSH_COMMAND": f"ssh -F {config}"}
        yield Lab(folder, environment, addresses, pids, variables or {})


def _alone() -> bool:
    lines = Path("/proc/net/dev").read_text().splitlines()[2:]
    names = {line.partition(":")[0].strip() for line in lines}
    usual = ("lo", "tunl", "sit", "ip6tnl")
    return names <= {"lo", "br0"} or all(name.startswith(usual) for name in names)


def _ip(*words: str) -> "subprocess.CompletedProcess[str]":
    return captured(["ip", *words])


def _key(path: Path) -> None:
    captured(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)


def _client(folder: Path, addresses: dict[str, str]) -> Path:
    """Write what a user has in ~/.ssh: a configuration and the keys of the hosts."""
    known_hosts = folder / "known_hosts"
    lines = [
        f"{address} {(folder / label / 'host.pub').read_text().strip()}"
        for label, address in addresses.items()
    ]
    known_hosts.write_text("\n".join([*lines, ""]))
    config = folder / "ssh_config"
    config.write_text(
        f"UserKnownHostsFile {known_hosts}\n"
        f"IdentityFile {folder}/user\nIdentitiesOnly yes\nUser root\n"
        + "".join(f"Host {label}\n  HostName {address}\n" for label, address in addresses.items())
    )
    return config


def _session(path: Path, variables: Mapping[str, str]) -> dict[str, str]:
    return {
        "TMPDIR": str(path / "tmp"),
        "XDG_CACHE_HOME": f"{path}/home",
        "BENCHFORGE_PROGRAMS": f"{Path(sys.prefix).parent}/.tools/system",
        "PATH": f"{path}/bin:{os.defpath}",
        **variables,
    }


@contextlib.contextmanager
def _host(folder: Path, label: str, address: str, variables: Mapping[str, str]) -> Iterator[int]:
    """Start one host; give its first process."""
    mine = folder / label
    (mine / "tmp").mkdir(parents=True)
    (mine / "home").mkdir()
    _key(mine / "host")
    sshd = locate("sshd")
    assert sshd is not None
    options = _session(mine, variables)
    lines = [
        f"ListenAddress {address}",
        f"HostKey {mine}/host",
        f"AuthorizedKeysFile {folder}/user.pub",
        *("StrictModes no", "PasswordAuthentication no", "KbdInteractiveAuthentication no"),
        *("UsePAM no", "PermitRootLogin prohibit-password", "PidFile none", "LogLevel INFO"),
        "SetEnv " + " ".join(f"{name}={value}" for name, value in options.items()),
    ]
    for option, name in (("SshdSessionPath", "sshd-session"), ("SshdAuthPath", "sshd-auth")):
        if (program := sshd.parents[1] / "lib/openssh" / name).is_file():
            lines.append(f"{option} {program}")
    (mine / "sshd_config").write_text("\n".join([*lines, ""]))
    environment = {**os.environ, "FOLDER": str(mine), "ADDRESS": address, "SSHD": str(sshd)}
    words = ["unshare", "--net", "--mount", "--pid", "--uts", "--fork", "--kill-child"]
    words += ["--mount-proc", "/bin/sh", "-c", _HOST]
    environment |= libraries(sshd)
    with (mine / "sshd.log").open("w") as log:
        process = subprocess.Popen(
            words, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    try:
        pid = _first(process)
        pair = ("link", "add", f"v-{label}", "type", "veth", "peer", "name", "eth0")
        made = _ip(*pair, "netns", str(pid))
        assert not made.returncode, made.stderr
        _ip("link", "set", f"v-{label}", "master", "br0", "up")
        log_text = (mine / "sshd.log").read_text
        until(lambda: "Server listening" in log_text() or process.poll() is not None, WAITS_S)
        if process.poll() is not None:
            lack(f"several hosts: sshd does not start here: {log_text()}")
        yield pid
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        _ip("link", "del", f"v-{label}")


def _first(process: "subprocess.Popen[bytes]") -> int:
    until(lambda: children(process.pid) or process.poll() is not None, WAITS_S)
    if process.poll() is not None:
        lack("several hosts: this machine refuses namespaces inside of our own")
    return children(process.pid)[0]
