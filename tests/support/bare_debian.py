"""A Debian that has nothing but Python: made by debootstrap, kept in .tools, entered as a user.

Without root, or without apt, there is only an empty home on this machine.
"""

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from front_door import captured, lack

ROOT = Path(__file__).parents[2]
FETCH = ROOT / "benchforge/cli/machine/doctor/debian.sh"
CERTIFICATES = Path("etc/ssl/certs/ca-certificates.crt")
WITHIN_S = 550
PACKAGES = "python3,python3-venv,ca-certificates"
# pivot_root, not chroot: in a chroot nobody may make the namespaces of a trial.
ENTER = """
mount --make-rprivate /
mount --bind . .
mount -t proc proc proc
mount --rbind /sys sys
mount --rbind /dev dev
mount -t tmpfs -o mode=1777 tmpfs tmp
cd .
mkdir -p old
pivot_root . old
umount -l /old
exec setpriv --reuid=1000 --regid=1000 --clear-groups "$@"
"""


@dataclass(frozen=True)
class BareDebian:
    """A root, and an empty home in it."""

    root: Path
    home: Path

    @property
    def bare(self) -> bool:
        """Whether it has nothing but Python."""
        return self.root != Path("/")

    def run(self, script: str) -> subprocess.CompletedProcess[str]:
        """Run a script as an ordinary user, in the home."""
        enter = ["unshare", "--mount", "--pid", "--fork", "sh", "-euc", ENTER, "enter"]
        variables = "PATH=/usr/bin:/bin LC_ALL=C.UTF-8 COLUMNS=100 PIP_DISABLE_PIP_VERSION_CHECK=1"
        words = [*(enter if self.bare else ()), "env", "-i", *variables.split()]
        words += [f"{name}=/{CERTIFICATES}" for name in ("SSL_CERT_FILE", "PIP_CERT")]
        words += [f"HOME=/{self.home.relative_to(self.root)}", "sh", "-euc", f"cd; {script}"]
        return captured(words, cwd=self.root, timeout=WITHIN_S)


def bare_debian(wheel: Path, home: Path) -> BareDebian:
    """Return a root with a wheel in a new home: in `home`, where no root can be made."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        shutil.copy(wheel, home)
        return BareDebian(Path("/"), home)
    root = made(_index()[0])
    debian = BareDebian(root, root / "home/reader")
    shutil.rmtree(debian.home, ignore_errors=True)
    debian.home.mkdir(parents=True)
    shutil.copy(wheel, debian.home)
    for file in ("etc/resolv.conf", "etc/hosts", CERTIFICATES):
        if Path("/", file).is_file():
            shutil.copyfile(Path("/", file), debian.root / file)
    subprocess.run(["chown", "-R", "1000:1000", str(debian.home)], check=True)
    return debian


def _index() -> tuple[str, str]:
    """Return the name of this machine's Debian, and its mirror."""
    words = ["apt-get", "indextargets", "--format", "$(RELEASE) $(REPO_URI)"]
    suite, mirror = captured([*words, "Created-By: Packages"], check=True).stdout.split()[:2]
    return suite, mirror


def made(suite: str) -> Path:
    """Make a root of a Debian, once; skip the test where it cannot be had."""
    root = ROOT / ".tools" / f"bare-{suite}"
    if root.is_dir():
        return root
    work = Path(tempfile.mkdtemp(prefix=".bare-", dir=ROOT / ".tools"))
    captured(["sh", FETCH, work / "tools", "debootstrap"], check=True)
    program: list[str | Path] = ["sh", work / "tools/usr/sbin/debootstrap", "--variant=minbase"]
    program += [f"--include={PACKAGES}", suite, work / "root", _index()[1]]
    files = work / "tools/usr/share/debootstrap"
    ended = captured(program, env={**os.environ, "DEBOOTSTRAP_DIR": str(files)})
    if ended.returncode:
        shutil.rmtree(work)
        lack(f"missing: a root by debootstrap: {ended.stdout[-300:]}")
    (work / "root").rename(root)
    shutil.rmtree(work)
    return root
