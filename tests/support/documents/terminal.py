"""The lines behind `$` of a page, run as a reader would: in one folder, one after the other."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import warm
from documents.pages import ROOT, Block
from front_door import bench_words, captured, needed
from third_party import written_as_installed

from benchforge.parts.registry import Registry
from benchforge.suite.cases.expand import expand
from benchforge.suite.load import load

WAITS_S = 300.0
SHORT = "200ms"
PLAIN = {"cat", "cp", "head", "ls", "mkdir"}
"Programs that run as they are."
_AS_SOMEBODY = ("-c", "user.name=reader", "-c", "user.email=reader@localhost")


class NoRule(AssertionError):
    """A page shows what nobody can check."""


@dataclass(frozen=True)
class Line:
    """A command as a page shows it, and what it is said to print."""

    command: str
    shown: tuple[str, ...]


def lines(block: Block) -> Iterator[Line]:
    """Yield the commands of a block. Raises NoRule where it does not begin with one."""
    command, output = "", list[str]()
    for text in block.text.splitlines():
        if text.startswith("$ "):
            if command:
                yield Line(command, tuple(output))
            command, output = text.removeprefix("$ "), []
        elif not command:
            raise NoRule(f"{block.where}: a console block begins with a line '$ command'")
        else:
            output.append(text)
    yield Line(command, tuple(output))


def pattern(output: Sequence[str]) -> re.Pattern[str]:
    """Return what an output must match: `...` alone is any lines, `…` or `<...>` any text."""
    wanted = [
        r"(?:.*\n)*?"
        if line.strip() == "..."
        else ".*".join(map(re.escape, re.split(r"…|<\.\.\.>", line.rstrip()))) + r"[ ]*\n"
        for line in output
    ]
    return re.compile("".join(wanted))


def without_waiting(words: Sequence[str], folder: Path) -> list[str]:
    """Return what lets a run measure at once: the tests beside it never leave the CPUs quiet.

    Loads of pace and warm-ups are shorter than a reader's, where the page sets none itself. A run
    that ends early is continued, and then every setting counts.
    """
    if words[:1] != ["run"] or {"--resume", "--time-limit", "--help"} & {*words}:
        return []
    set_ = ["repeat.quiet=off"]
    files = [folder / word for word in words[1:] if word.endswith(".toml")]
    tables = tomllib.loads(files[0].read_text()) if files and files[0].is_file() else {}
    for label, loader in tables.get("loaders", {}).items():
        if loader.get("use") == "pace" and "duration" in loader and "rate" not in loader:
            set_.append(f"loaders.{label}.duration={SHORT}")
    if "warmup" in tables.get("repeat", {}):
        set_.append(f"repeat.warmup={SHORT}")
    options = {word.partition("=")[0] for word in words}
    items = [item for item in set_ if item.partition("=")[0] not in options]
    return [word for item in items for word in ("--set", item)]


class Terminal:
    """A folder with what the page has written so far, and the programs that still run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.here = folder
        self.code = 0
        self.plugins = folder / ".plugins"
        self.running: list[subprocess.Popen[str]] = []
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # as activated
        self.environment = {**os.environ, "PATH": path, "PYTHONUNBUFFERED": "1", "COLUMNS": "100"}
        self.environment.pop("PYTEST_ADDOPTS", None)  # those of the tests are no reader's

    def run(self, block: Block) -> None:
        """Run the commands of a block, and compare what they print."""
        items = list(lines(block))
        for line, second in zip(items, [*items[1:], None], strict=True):
            request = second is not None and second.command == "echo $?"
            out = self._one(line, block)
            text = f"{block.where}: $ {line.command}\n{out}"
            assert request or self.code == 0 or line.command == "echo $?", text
            output = [item for item in line.shown if item != "^C"]
            assert not output or pattern(output).fullmatch(out), text

    def end(self) -> None:
        """End what was started to stay."""
        for process in self.running:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                process.wait(WAITS_S)

    def _one(self, line: Line, block: Block) -> str:
        """Run one command, and return what it prints."""
        if line.command == "echo $?":
            return f"{self.code}\n"
        words = shlex.split(line.command, comments=True)
        stays = words[-1] == "&"
        words = [item for word in words[: -1 if stays else None] for item in self._globbed(word)]
        if words[:2] == ["uv", "pip"]:
            words = words[1:]
        if words == [".", ".venv/bin/activate"]:  # the tests' own environment is
            return ""
        environment = dict(self.environment)
        while "=" in words[0]:
            name, _, environment[name] = words.pop(0).partition("=")
        changes = {"cd": self._enter, "pip": self._install, "apt-get": packaged}
        if words[0] in changes:
            changes[words[0]](words[1:], block)
            return ""
        folder, words = self._program(words, block)
        if stays or "^C" in line.shown:
            return self._started(words, environment, line, stays=stays)
        self.code, out = self._called(folder, words, environment)
        assert "Traceback" not in out, out
        # The tests have a calibration, of which a run says this; a reader has none yet.
        return re.sub(r"^loosened to this machine, .*\n", "", out, flags=re.MULTILINE)

    def _enter(self, words: Sequence[str], _: Block) -> None:
        self.here = (self.here / words[0]).resolve()

    def _globbed(self, word: str) -> list[str]:
        """Return the files that a word stands for, or the word."""
        items = sorted(self.here.glob(word)) if "*" in word and not word.startswith("/") else []
        return [str(item.relative_to(self.here)) for item in items] or [word]

    def _program(self, words: list[str], block: Block) -> tuple[Path, list[str]]:
        """Return where a command runs, and what stands for it. Raises NoRule without a rule."""
        program, *rest = words
        match program.removeprefix(".venv/bin/"):
            case "benchforge":
                self._need(rest)
                return self.here, bench_words(*rest, *without_waiting(rest, self.here))
            case "python":
                return self.here, [sys.executable, *rest]
            case "pytest":  # that there are such tests: they have their own turn
                return ROOT, [sys.executable, "-m", "pytest", "--collect-only", "-q", *rest]
            case "make":
                return ROOT, ["make", "--dry-run", *rest]
            case "git":
                return self.here, ["git", *_AS_SOMEBODY, *rest]
            case name if name in PLAIN:
                return self.here, words
        raise NoRule(f"{block.where}: no rule for {program}")

    def _called(
        self, folder: Path, words: Sequence[str], environment: dict[str, str]
    ) -> tuple[int, str]:
        """Return the exit code of a command and what it prints."""
        program, count = len(bench_words()), words[len(bench_words()) :]
        if list(words[:program]) == bench_words() and warm.may(environment):
            return warm.call(count, folder, environment, WAITS_S, as_seen=True)[:2]
        together = ["sh", "-c", 'exec "$@" 2>&1', "sh", *words]
        done = captured(together, cwd=folder, env=environment, timeout=WAITS_S)
        return done.returncode, done.stdout

    def _started(
        self, words: Sequence[str], environment: dict[str, str], line: Line, *, stays: bool
    ) -> str:
        """Start what runs on, and wait for what it says; Ctrl-C ends it where the page says so."""
        log = self.folder / f".output-{len(self.running)}"
        with log.open("w") as out:
            process = subprocess.Popen(
                words, cwd=self.here, env=environment, stdout=out, stderr=out, text=True
            )
        self.running.append(process)
        items = list(line.shown[: line.shown.index("^C")]) if not stays else list(line.shown)
        deadline = time.monotonic() + WAITS_S
        while not pattern([*items, "..."]).fullmatch(log.read_text()):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        if not stays:
            process.send_signal(signal.SIGINT)
            self.code = process.wait(WAITS_S)
            return log.read_text()
        self.code = 0
        return "".join(f"{item}\n" for item in line.shown)

    def _need(self, words: Sequence[str]) -> None:
        """Leave the page's test where a program is missing that the suite needs."""
        if not {*words[:1]} & {"run", "serve"} or not (self.here / words[1]).exists():
            return
        suite = load(self.here / words[1], Registry())
        parts = {id(part): part for case in expand(suite) for part in case.parts}
        needs = [need for part in parts.values() for need in part.needs()]
        needed(*{need.name for need in needs if need.kind == "program"})

    def _install(self, words: Sequence[str], block: Block) -> None:
        """Have a folder's plugin found, as pip would; of ours, see that the names are known."""
        assert words[0] == "install", block.where
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        for word in words[1:]:
            name, _, rstrip = word.rstrip("]").partition("[")
            if word.startswith("-"):
                continue
            if (self.here / word / "pyproject.toml").exists():
                self._found(self.here / word)
            elif name == ".":
                known_values = extras["optional-dependencies"]
                assert not rstrip or set(rstrip.split(",")) <= known_values.keys(), block.where
            else:
                raise NoRule(f"{block.where}: no rule for installing {word}")

    def _found(self, project: Path) -> None:
        """Have an editable install found, as pip would."""
        loads = tomllib.loads((project / "pyproject.toml").read_text())["project"]
        points = loads.get("entry-points", {})
        written_as_installed(self.plugins, loads["name"], loads["version"], points)
        source = project / "src" if (project / "src").is_dir() else project
        paths = [str(self.plugins), str(source), self.environment.get("PYTHONPATH", "")]
        self.environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        sys.path[:0] = paths[:2]


def packaged(words: Sequence[str], block: Block) -> None:
    """See that each Debian package of a line is one that benchforge names itself."""
    assert words[0] == "install", block.where
    content = (ROOT / "scripts/setup.sh").read_text()
    for word in words[1:]:
        named = re.search(rf"(?<![\w-]){word}(?![\w-])", content)
        assert word.startswith("-") or named, block.where
