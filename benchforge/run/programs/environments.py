"""Environments of runtimes, built by uv and kept: a list of pinned packages, and what it makes."""

import contextlib
import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from benchforge.errors import BenchforgeError, CannotKeep, ProgramMissing
from benchforge.model.runtime import Runtime
from benchforge.parts.command import Command
from benchforge.run.cache import cache
from benchforge.run.here import Here
from benchforge.run.hold import use
from benchforge.run.locate import libraries, locate
from benchforge.run.scratch import claimed
from benchforge.run.wishes import Found
from benchforge.suite.faults import SuiteErrors
from benchforge.suite.located import located
from benchforge.suite.redact import redact
from benchforge.suite.suite import Suite

_BUILT_WITHIN_S = 1800.0  # a package without a wheel is compiled, and compilers are slow
_TELLING = 3  # lines of uv's that are shown
_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
_PASSED = ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_DIR", "SSL_CERT_FILE")
_FOLDERS = ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")


def environment(
    here: Here, suite: Suite, label: str, found: Found, tell: Callable[[str], None]
) -> tuple[Path, str]:
    """Return the interpreter of a runtime's environment, and the packages that it was built from.

    It is built when it is first asked for, and kept in the cache. Raises SuiteErrors when the
    requirements cannot be met, ProgramMissing when it cannot be built for another reason, and
    CannotKeep when it cannot be written.
    """
    runtime = suite.runtimes[label]
    entry = cache("runtimes") / _key(runtime, found)
    try:
        if not entry.is_dir():
            count = len(runtime.requires)
            tell(
                f"runtime {label}: building ({found}, {count} requirement{'s' * (count > 1)}); "
                "this is done once"
            )
            _build(here, suite, label, found, entry)
        whole = entry.resolve()
        use(whole)
        return whole / "env/bin/python", (whole / "lock.txt").read_text()
    except OSError as error:
        raise CannotKeep(f"runtime {label}: {error}", f"see {entry.parent} and its disk") from error


def fetch(here: Here, label: str, python: str, folder: Path) -> None:
    """Have uv fetch an interpreter. Raises ProgramMissing when it cannot."""
    words = (_uv(label), "python", "install", "--no-progress", "--no-bin", python)
    surroundings = _surroundings() | {"UV_PYTHON_DOWNLOADS": "manual"}
    done = here.run("fetch", Command(*words), folder, surroundings, _BUILT_WITHIN_S)
    if done.code:
        raise ProgramMissing(
            f"runtime {label}: uv cannot fetch {python}: {_telling(done.stderr.read_text())}",
            "install it, or give its path",
        )


def _build(here: Here, suite: Suite, label: str, found: Found, entry: Path) -> None:
    """Make an environment under a name of its own, and then link to it.

    An environment cannot be moved, since it holds its own path; the link is there at once.
    """
    with claimed(entry.parent, f"{entry.name}.") as own:
        try:
            _make(here, suite, label, found, own, _log_of(entry))
            if entry.is_symlink() and not entry.is_dir():  # somebody removed what it leads to
                entry.unlink(missing_ok=True)
            with contextlib.suppress(FileExistsError):  # somebody else built the same meanwhile
                entry.symlink_to(own.name)
        except BenchforgeError:
            _keep_log(own, _log_of(entry))
            raise
        finally:
            if entry.resolve() != own.resolve():
                shutil.rmtree(own, ignore_errors=True)


def _log_of(entry: Path) -> Path:
    return entry.with_name(f"{entry.name}.failed")


def _keep_log(own: Path, log: Path) -> None:
    """Keep what uv printed, of the newest attempt that failed."""
    shutil.rmtree(own / "env", ignore_errors=True)
    shutil.rmtree(log, ignore_errors=True)
    own.rename(log)


def _make(here: Here, suite: Suite, label: str, found: Found, own: Path, log: Path) -> None:
    uv, python = _uv(label), found.path
    requires = suite.runtimes[label].requires
    (own / "requirements.in").write_text("".join(f"{one}\n" for one in requires))
    pinned = ("-o", "lock.txt", "--generate-hashes", "--no-header", "--no-annotate")
    steps = {
        "lock": ("pip", "compile", "requirements.in", "--python", python, *pinned),
        "env": ("venv", "--no-project", "--python", python, "env"),
        # Compiled once, or each trial would pay for it where it cannot be written.
        "install": ("pip", "sync", "lock.txt", "--python", "env/bin/python", "--compile-bytecode"),
    }
    surroundings = _surroundings() | libraries(python)
    for step, words in steps.items():
        command = Command(uv, *words, "--no-progress")
        done = here.run(step, command, own, surroundings, _BUILT_WITHIN_S)
        if done.code:
            said = done.stderr.read_text(errors="replace")
            if step == "lock" and re.search("No solution found|parse requirement", said):
                raise _unsolvable(suite, label, found, said)
            raise ProgramMissing(
                redact(f"runtime {label}: uv cannot build it: {_telling(said)}", suite.secrets),
                f"all that it said is in {log}",
            )


def _unsolvable(suite: Suite, label: str, found: Found, said: str) -> SuiteErrors:
    telling = redact(_telling(said), suite.secrets)
    requires = suite.runtimes[label].requires
    guilty = [number for number, one in enumerate(requires) if _named(one, said)]
    at = ("runtimes", label, "requires", *(guilty if len(guilty) == 1 else ()))
    hint = f"asked for {found}; what there is depends on the interpreter"
    return SuiteErrors([located(suite.document, at, telling, hint)])


def _named(requirement: str, said: str) -> bool:
    name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0].lower()
    return re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", said.lower()) is not None


def _telling(said: str) -> str:
    """Return what uv complains of, without the frame that it draws."""
    frame = re.compile(r"^\W*((error|cause|Caused by): )?")
    lines = [frame.sub("", line).strip() for line in said.splitlines()]
    kept = [one for one in lines if one and not one.startswith(("Using ", "hint:", "warning:"))]
    return ": ".join(kept[:_TELLING]) or "it did not say why"


def _uv(label: str) -> Path:
    if (uv := locate("uv")) is None:
        raise ProgramMissing(
            f"runtime {label}: building its environment needs uv, which is missing",
            "pip install 'benchforge[runtimes]', or install uv so that it is on PATH",
        )
    return uv


def _surroundings() -> dict[str, str]:
    """Return what uv is told of our environment: where packages come from, and whom to trust.

    uv brings certificates of its own; where the system has some, a proxy's may be among them.
    """
    passed = {
        name: value
        for name, value in os.environ.items()
        if name.startswith("UV_") or name.upper() in _PASSED or name in _FOLDERS
    }
    trusted = os.environ.get("PIP_CERT") or (str(_CERTIFICATES) if _CERTIFICATES.exists() else "")
    trust = {"SSL_CERT_FILE": trusted} if trusted else {}
    return trust | passed | {"UV_PYTHON_DOWNLOADS": "never"}


def _key(runtime: Runtime, found: Found) -> str:
    """Return a digest of what the environment depends on: another key, another environment."""
    file = found.path.resolve()
    stat = file.stat()
    interpreter = [str(file), stat.st_size, stat.st_mtime_ns, str(found)]
    # They say where packages come from, and which.
    told = {name: value for name, value in os.environ.items() if name.startswith("UV_")}
    known = [interpreter, runtime.requires, sorted(told.items())]
    return hashlib.sha256(json.dumps(known).encode()).hexdigest()[:32]
