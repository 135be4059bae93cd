"""What /proc shows of a process that is not run as it would be run in earnest."""

import itertools
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath

from benchforge.run.watch.files import content, whole
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
_LONGEST = 60


def signs(pid: int) -> list[str] | None:
    """Return the signs of one process, such as "debug: --reload"; None when some are hidden.

    "loaded: X" is an instrument that is there, and of which nothing shows whether it is used. A
    process that has ended shows none.
    """
    if (status := content(f"/proc/{pid}/status")) is None:
        return []
    contents = [whole(f"/proc/{pid}/{name}") for name in ("cmdline", "environ", "maps")]
    argv, environment, maps = contents
    if argv is None or environment is None or maps is None:
        return None if whole(f"/proc/{pid}/cmdline") else []  # a zombie has no words either
    words = _words(argv)
    split = [word.partition("=") for word in _words(environment)]
    given = {name: value for name, _, value in split}
    return [
        *of_words(words),
        *of_environment(given, words),
        *of_node(given, words, f"/proc/{pid}/cwd"),
        *of_tracer(status.decode(errors="replace")),
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


def of_environment(given: Mapping[str, str], words: Sequence[str]) -> Iterator[str]:
    """Yield the signs of the environment of a command line."""
    for name in _TRUE_MEANS_DEBUG:
        if given.get(name, "").lower() not in _NO:
            yield f"debug: {name}={_short(given[name])}"
    for name in _SET_MEANS_DEBUG:
        if given.get(name):
            yield f"debug: {name}"
    for name in _SET_MEANS_INSTRUMENT:
        if given.get(name):
            yield f"instrument: {name}={_short(given[name])}"
    preloaded = given.get("LD_PRELOAD", "")
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


def of_tracer(status: str) -> Iterator[str]:
    """Yield whether somebody traces a process, as /proc/PID/status says."""
    match = re.search(r"^TracerPid:\t([1-9]\d*)$", status, re.MULTILINE)
    if match:
        yield f"instrument: TracerPid {match[1]}"


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
    printable = "".join(letter if letter.isprintable() else "?" for letter in word)
    return cut(printable, _LONGEST)


def open_files(pid: int) -> int | None:
    """Return how many descriptors a process may have open; None when it has ended or no limit."""
    limits = (content(f"/proc/{pid}/limits") or b"").decode()
    match = re.search(r"^Max open files +(\d+) ", limits, re.MULTILINE)
    return int(match[1]) if match else None
