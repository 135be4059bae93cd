"""A part under watch: its processes, and the facts that its rows lack."""

import contextlib
import itertools
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath

from benchforge.model.trial.observation import Usage
from benchforge.model.trial.rows import UsageRow
from benchforge.model.values.case_name import Role
from benchforge.run.sandbox.sandbox import Running, Sandbox, last_lines
from benchforge.run.watch.files import content, whole
from benchforge.run.watch.foreign import printable
from benchforge.run.watch.group import PartQuota
from benchforge.run.watch.part import PartProcesses
from benchforge.stats.timeseries.trend import ENOUGH
from benchforge.text.readable import cut

_NO = ("", "0", "false", "no", "off")
_DEBUG_WORDS = ("--reload", "--debug", "runserver")
_TRUE_MEANS_DEBUG = ("FLASK_DEBUG", "DJANGO_DEBUG", "QUART_DEBUG")
_SET_MEANS_DEBUG = ("PYTHONDEVMODE", "PYTHONASYNCIODEBUG")
_SET_MEANS_INSTRUMENT = ("LD_AUDIT", "PYTHONTRACEMALLOC", "COVERAGE_PROCESS_START")
_INSTRUMENTS = {"cProfile", "profile", "coverage", "debugpy", "pdb", "pyinstrument", "viztracer"}
_ALLOCATORS = re.compile(r"jemalloc|tcmalloc|mimalloc")
_READ_NODE_ENV = ("express", "koa", "sails")
_MAPPED = re.compile(r"lib(?:[almt]san|ubsan)\.|valgrind|vgpreload")
# An app may import these, and use them for a few requests or for none.
_LOADED = re.compile(r"debugpy|pydevd|/coverage/c?tracer\.|_lsprof\.")
_TRACER = re.compile(rb"^TracerPid:\t([1-9]\d*)$", re.MULTILINE)
_LONGEST = 60

_MOST = 256  # files of a part that are held; a database with more of them prints elsewhere
_FOR_WRITING = os.O_WRONLY | os.O_RDWR

CLOCKS_S = 0.001
"Seconds by which /proc may exceed what a process's end tells, by rounding; daemons exceed it more."


class Watched(PartProcesses):
    """A part that was started here. One that runs when the load begins counts from then on."""

    def __init__(self, sandbox: Sandbox, label: str, role: Role, running: Running) -> None:
        pid, reaper = running.outer_pid, running.reaper
        super().__init__(label, role, pid, lambda: sandbox.processes(running), reaper)
        self.running = running
        self.begin(counted_from_birth=role == "loader")
        pids = self.pids
        self._shown = bool(pids)
        # A load tool has only just begun: what it is will be seen when it is none of this.
        signs_of_pids = [] if role == "loader" else [signs(pid) for pid in pids]
        self._signs = tuple(sorted({sign for each in signs_of_pids for sign in each or ()}))
        self._signs_hidden = None in signs_of_pids
        self._open_files = min((n for pid in pids if (n := open_files(pid))), default=None)
        self._quota = PartQuota({running.outer_pid, *pids})
        self._printed = OutputSize(running, () if role == "loader" else pids)

    def row_now(self, at_s: float, pss_bytes: int | None, *, fully: bool) -> UsageRow | None:
        """Return what it used until now; None where /proc never showed it, or a tool has ended."""
        gone = not self.pids and (self.role == "loader" or not self._shown)
        return None if gone else self.row(at_s, pss_bytes, fully=fully)

    def last_row(self, sandbox: Sandbox, at_s: float) -> UsageRow | None:
        """Return what a load tool used until its end; its daemons as they were seen last."""
        if (end := sandbox.exit(self.running)) is None:
            return None
        ended_s, seen_s = end.user_s + end.system_s, self.cpu_s()
        return UsageRow(
            time_s=at_s,
            label=self.label,
            role=self.role,
            cpu_s=seen_s if seen_s > ended_s + CLOCKS_S else ended_s,
            voluntary_switches=end.voluntary,
            involuntary_switches=end.involuntary,
            major_faults=end.major_faults,
        )

    def facts(self) -> Usage:
        """Return what its rows do not tell."""
        quota_cpus, throttled = self._quota.of(self.busiest or self.running.outer_pid)
        return Usage(
            label=self.label,
            role=self.role,
            cpu_s=None,
            peak_pss_bytes=None,
            printed_bytes=self._printed.grown(),
            printed_line=self._printed.line(),
            open_files_limit=self._open_files,
            development_signs=self._signs,
            quota_cpus=quota_cpus,
            throttled=throttled,
        )

    def explained(self, usage: Usage) -> Usage:
        """Return a usage with the reasons for what is unknown."""
        return replace(usage, why="; ".join(self._reasons(usage)))

    def _reasons(self, usage: Usage) -> Iterator[str]:
        if usage.cpu_s is None:
            yield "/proc does not show its processes"
        if usage.peak_pss_bytes is None:
            early = not self.memory_hidden and self.role == "loader"
            ended = "it ended before its memory was looked at"
            yield ended if early else "/proc does not show its memory"
        elif usage.memory_growth is None:
            reads = usage.pss_samples
            yield f"memory_growth: its memory was read {reads} times, {ENOUGH} are needed"
        if usage.busiest_thread_cpu_s is None:
            early = self.threads.tells_times or self.role == "loader"
            ended = "it ended before its threads were looked at for long"
            yield ended if early else "the kernel does not tell how long its threads ran"
        if self._open_files is None:
            yield "/proc did not show its limit of open files"
        if self._signs_hidden:
            yield "/proc does not show its environment: signs of instruments may be missing"
        if self._printed.why:
            yield f"printed: {self._printed.why}"

    def close(self) -> None:
        """Let go of all files."""
        self._printed.close()


class OutputSize:
    """The files of a part as they were when the load began.

    Each is held, so that it is still known when renamed or removed.
    """

    def __init__(self, running: Running, pids: Iterable[int]) -> None:
        self.why = ""
        "Why how much it prints is not known."
        self._first: dict[tuple[int, int], tuple[int, int]] = {}  # descriptor and size, by inode
        self._captured: dict[Path, int] = {}
        for path in (running.stdout, running.stderr):
            with contextlib.suppress(OSError):
                self._captured[path] = path.stat().st_size
                self._hold(str(path))
        for pid in pids:
            self._hold_all(pid)

    def _hold_all(self, pid: int) -> None:
        try:
            numbers = os.listdir(f"/proc/{pid}/fd")  # noqa: PTH208 - numbers, not paths
        except PermissionError:
            self.why = "/proc does not show which files it writes"
            return
        except OSError:
            return  # it has ended
        for number in numbers:
            words = (content(f"/proc/{pid}/fdinfo/{number}") or b"").split()
            flags = int(words[words.index(b"flags:") + 1], 8) if b"flags:" in words else 0
            if flags & _FOR_WRITING:
                with contextlib.suppress(OSError):
                    self._hold(f"/proc/{pid}/fd/{number}")

    def _hold(self, path: str) -> None:
        named = Path(path).stat()
        key = (named.st_dev, named.st_ino)
        if not stat.S_ISREG(named.st_mode) or key in self._first:
            return
        if len(self._first) == _MOST:
            self.why = f"it has more than {_MOST} files open for writing"
            return
        self._first[key] = (os.open(path, os.O_PATH | os.O_CLOEXEC), named.st_size)

    def grown(self) -> int | None:
        """Return by how many bytes they grew since; None where not all are known."""
        if self.why:
            return None
        files = self._first.values()
        return sum(max(0, os.fstat(descriptor).st_size - size) for descriptor, size in files)

    def line(self) -> str:
        """Return the last line of what is captured and grew since; empty where nothing did."""
        for path, size in self._captured.items():
            if path.stat().st_size > size:
                return last_lines(path, 1)
        return ""

    def close(self) -> None:
        """Let go of all files."""
        for descriptor, _ in self._first.values():
            os.close(descriptor)
        self._first = {}


def signs(pid: int) -> list[str] | None:
    """Return the signs of one process, such as "debug: --reload"; None when some are hidden.

    "loaded: X" is an instrument that may be unused.
    """
    if (status := content(f"/proc/{pid}/status")) is None:
        return []
    names = ("cmdline", "environ", "maps")
    argv, environment, maps = (whole(f"/proc/{pid}/{name}") for name in names)
    if argv is None or environment is None or maps is None:
        return None if whole(f"/proc/{pid}/cmdline") else []  # a zombie has no words either
    words = _words(argv)
    split = [word.partition("=") for word in _words(environment)]
    environment_ = {name: value for name, _, value in split}
    return [
        *of_words(words),
        *of_environment(environment_, words),
        *of_node(environment_, words, f"/proc/{pid}/cwd"),
        *(f"instrument: TracerPid {pid.decode()}" for pid in _TRACER.findall(status)),
        *of_maps(maps.decode(errors="replace")),
    ]


def of_words(words: Sequence[str]) -> Iterator[str]:
    """Yield the signs of a command line."""
    for word in words:
        name, is_given, value = word.partition("=")
        if name in _DEBUG_WORDS and not (is_given and value.lower() in _NO):
            yield f"debug: {_short(word)}"
    if "-Xdev" in words or ("-X", "dev") in itertools.pairwise(words):
        yield "debug: -X dev"
    modules = {word for option, word in itertools.pairwise(words) if option == "-m"}
    modules |= {word[2:] for word in words if word.startswith("-m")}
    yield from (f"instrument: -m {name}" for name in sorted(modules & _INSTRUMENTS))
    scripts = {PurePath(word).name for word in words[:2]}  # by itself, or by its interpreter
    yield from (f"instrument: {name}" for name in sorted(scripts & _INSTRUMENTS))


def of_environment(environment: Mapping[str, str], words: Sequence[str]) -> Iterator[str]:
    """Yield the signs of the environment of a command line."""
    debugs = [name for name in _TRUE_MEANS_DEBUG if environment.get(name, "").lower() not in _NO]
    yield from (f"debug: {name}={_short(environment[name])}" for name in debugs)
    yield from (f"debug: {name}" for name in _SET_MEANS_DEBUG if environment.get(name))
    instruments = [name for name in _SET_MEANS_INSTRUMENT if environment.get(name)]
    yield from (f"instrument: {name}={_short(environment[name])}" for name in instruments)
    preloaded = environment.get("LD_PRELOAD", "")
    if preloaded and not _ALLOCATORS.search(preloaded):
        yield f"loaded: LD_PRELOAD={_short(preloaded)}"


def of_node(environment: Mapping[str, str], words: Sequence[str], cwd: str) -> Iterator[str]:
    """Yield a mode of Node's programs, where node_modules of the script have who reads it."""
    mode = environment.get("NODE_ENV", "")
    if not words or PurePath(words[0]).name not in {"node", "nodejs"} or mode == "production":
        return
    files = [Path(cwd, word) for word in words[1:] if not word.startswith("-")]
    script = next((file for file in files if os.access(file, os.F_OK)), Path(cwd)).resolve()
    folders = (script, *script.parents)
    modules = [Path(top, "node_modules", name) for top in folders for name in _READ_NODE_ENV]
    if any(os.access(module, os.F_OK) for module in modules):
        yield f"debug: NODE_ENV={_short(mode)}" if mode else "debug: NODE_ENV is not set"


def of_maps(maps: str) -> Iterator[str]:
    """Yield the instruments among the files that a process has mapped."""
    lines = (line.split(maxsplit=5) for line in maps.splitlines())
    for path in sorted({line[5] for line in lines if len(line) == 6}):  # noqa: PLR2004
        if _MAPPED.search(path):
            yield f"instrument: {_short(PurePath(path).name)}"
        elif _LOADED.search(path):
            yield f"loaded: {_short(PurePath(path).name)}"


def _words(read: bytes) -> list[str]:
    return read.decode(errors="replace").rstrip("\0").split("\0")


def _short(word: str) -> str:
    return cut(printable(word), _LONGEST)


def open_files(pid: int) -> int | None:
    """Return how many descriptors a process may have open; None when it has ended or no limit."""
    limits = (content(f"/proc/{pid}/limits") or b"").decode()
    match = re.search(r"^Max open files +(\d+) ", limits, re.MULTILINE)
    return int(match[1]) if match else None
