"""Programs that are there, with path and version, and those that are not."""

import importlib.metadata
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from benchforge.cli.machine.doctor.finding import MachineFinding, ok, warn
from benchforge.errors import BenchforgeError, ProgramMissing
from benchforge.model.values.distribution import from_clone, own_distribution
from benchforge.parts.command import Need
from benchforge.parts.kinds import Kind
from benchforge.parts.part import Part
from benchforge.parts.registry import Registry
from benchforge.run.locate import locate, missing
from benchforge.run.programs.interpreters import all_interpreters, find
from benchforge.run.programs.needed import Needed, Users, how, of_runtime
from benchforge.run.programs.runtimes import ask_interpreter
from benchforge.run.sandbox.sandbox import Sandbox
from benchforge.suite.suite import Suite
from benchforge.text.readable import listed

_SHOWN = 3

_KINDS: tuple[Kind, ...] = ("server", "backend", "loader", "client")

_EXTRA = re.compile(r"^([\w.-]+).*\bextra == ['\"]([\w-]+)['\"]")


def findings(
    needs: Mapping[Need, Users], suite_folder: Path, versions: Mapping[str, str]
) -> Iterator[MachineFinding]:
    """Yield each program; those that come together and are there are one finding."""
    for group in _together(need for need in needs if need.kind == "program"):
        names_by_folder: dict[Path, list[str]] = {}
        for need in group:
            if path := locate(need.name, suite_folder):
                names_by_folder.setdefault(path.parent, []).append(need.name)
            else:
                yield MachineFinding("missing", need.name, f"for {users(needs[need])}", how(need))
        for folder, names in names_by_folder.items():
            others = f", with {', '.join(names[1:])}" if names[1:] else ""
            version = next((versions[name] for name in names if name in versions), "")
            version_text = f": {version}" if version else ""
            yield ok(Path(names[0]).name, f"{folder / Path(names[0]).name}{version_text}{others}")


def _together(needs: Iterable[Need]) -> Iterable[list[Need]]:
    groups: dict[str, list[Need]] = {}
    for need in needs:
        groups.setdefault(need.debian or need.name, []).append(need)
    return groups.values()


def users(places: Users) -> str:
    """Return who needs something, for a person."""
    entries = [
        f"{scenario_place} ({', '.join(scenarios)})" if scenarios else scenario_place
        for scenario_place, scenarios in places.items()
    ]
    return listed(entries, _SHOWN)


def all_of_them(sandbox: Sandbox, folder: Path) -> Iterator[MachineFinding]:
    """Yield every interpreter of the machine, virtual environments excepted."""
    for interpreter in dict.fromkeys(all_interpreters(sandbox, folder)):
        yield ok(str(interpreter), str(interpreter.path))


def of_runtimes(
    sandbox: Sandbox, suite: Suite, form: Needed, folder: Path
) -> Iterator[MachineFinding]:
    """Yield each runtime that a suite's cases need."""
    for label, modules in form.modules.items():
        subject, runtime = f"runtimes.{label}", suite.runtimes[label]
        scratch = Path(
            tempfile.mkdtemp(dir=folder)
        )  # what an interpreter prints is added to a file
        try:
            interpreter = find(sandbox, runtime.python, label, suite.path.parent, scratch)
        except ProgramMissing as error:
            if runtime.download and "/" not in runtime.python:
                yield warn(subject, f"{runtime.python!r} is missing; a run downloads it")
            else:
                says = error.message.removeprefix(f"runtime {label}: ")
                yield MachineFinding("missing", subject, says, error.hint)
            continue
        if runtime.requires:
            built = "an environment is built from it once"
            yield ok(
                subject,
                f"{interpreter} ({interpreter.path}); {built}: {', '.join(runtime.requires)}",
            )
            continue
        lacks = ask_interpreter(sandbox, label, interpreter.path, modules, scratch)["lacks"]
        if lacks:
            says = f"{interpreter} ({interpreter.path}) lacks {', '.join(lacks)}"
            yield MachineFinding(
                "missing", subject, says, of_runtime(label, runtime, interpreter.path, lacks)
            )
        else:
            yield ok(
                subject,
                f"{interpreter} ({interpreter.path}), with {', '.join(modules) or 'no package'}",
            )


def installed(registry: Registry) -> Needed:
    """Return what every installed part needs with its defaults, and with each of its flags set.

    What depends on an option without a default is told by a suite only. A plugin that cannot be
    imported is left out: it breaks only the suites that name it.
    """
    form = Needed()
    for kind in _KINDS:
        for name in registry.names(kind):
            try:
                cls = registry.part(kind, name)
            except BenchforgeError:
                continue
            form.parts[kind, name, ""] = cls.model_construct()
            for need in _needs(cls):
                form.needs.setdefault(need, {})[f"{kind} {name}"] = {}
    return form


def _needs(cls: type[Part]) -> Iterator[Need]:
    flags = [name for name, field in cls.model_fields.items() if field.annotation is bool]
    for options in ({}, *({flag: True} for flag in flags)):
        try:
            yield from cls.model_construct(None, **options).needs()
        except AttributeError:  # of an option that only a suite gives
            continue


def package_findings(needs: Mapping[Need, Users]) -> Iterator[MachineFinding]:
    """Yield each module that is needed, with the version of what brings it."""
    modules = [need for need in needs if need.kind == "module"]
    absent = set(missing(modules))
    distributions = importlib.metadata.packages_distributions() if modules else {}
    for name in dict.fromkeys(need.name for need in modules):
        of_name = [need for need in modules if need.name == name]
        if of_name[0] in absent:
            places = {path: index for need in of_name for path, index in needs[need].items()}
            yield MachineFinding("missing", name, f"for {users(places)}", how(of_name[0]))
        else:
            brought_by = dict.fromkeys(distributions.get(name.partition(".")[0], ()))
            versions = [
                f"{distribution} {importlib.metadata.version(distribution)}"
                for distribution in brought_by
            ]
            yield ok(name, ", ".join(versions) or "of no distribution")


def extras() -> Iterator[MachineFinding]:
    """Yield each extra of benchforge: whether what it brings is there."""
    by_extra: dict[str, list[str]] = {}
    for requirement in own_distribution().requires or ():
        if (match := _EXTRA.match(requirement)) and match[2] != "all":
            by_extra.setdefault(match[2], []).append(match[1])
    for extra, names in by_extra.items():
        absent = [name for name in names if not _installed(name)]
        subject = f"extra {extra}"
        if absent:
            message = f"{', '.join(absent)}, of {len(names)}"
            yield MachineFinding("missing", subject, message, from_clone(extra))
        else:
            yield ok(subject, f"all of its {len(names)}")


def _installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True
