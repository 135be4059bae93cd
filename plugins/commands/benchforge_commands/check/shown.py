"""`benchforge check`: what is wrong with suites, and what they need that is not here."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Unpack

from benchforge.cli.loaded import SuiteForm
from benchforge.cli.screen.say import keep_secret, say, show
from benchforge.plugin import BenchforgeError, Need
from benchforge.registry import Registry
from benchforge.run.locate import missing
from benchforge.run.programs.needed import Needed, Users, fetchable, how, needed, together
from benchforge.suite.suite import Suite
from benchforge.suite.toml.faults import SuiteErrors, SuiteFault
from benchforge.text.program import program
from benchforge.text.readable import counted, listed
from benchforge_commands.check.profiles import load_all

UNUSABLE, MISSING = 2, 3


def main(suites: tuple[Path, ...], **form: Unpack[SuiteForm]) -> int:
    """Check SUITES for errors, missing programs and missing packages. Return the exit code."""
    registry = Registry()
    absent: dict[Need, list[str]] = {}
    faulty: list[Path] = []
    for path in suites:
        loaded = load_all(path, registry, **form)
        for suite in loaded.suites:
            keep_secret(suite.secrets)
        faults = list(loaded.faults)
        forms: list[Needed] = []
        for suite in loaded.suites:
            try:
                forms.append(needed(suite))
            except BenchforgeError as error:
                faults.append(SuiteFault(str(path), error.message, hint=error.hint))
        if faults:
            faulty.append(path)
            say(SuiteErrors(list(dict.fromkeys(faults))).text())
            continue
        needs = together(forms)
        show(f"{path}: good: {_counts(loaded.suites, forms[0])}; {_names(needs)}")
        for line in dict.fromkeys(_not_looked_at(loaded.suites, forms)):
            show(f"{path}: not looked at: {line}")
        for need in missing(needs, path.parent):
            absent.setdefault(need, []).extend(_user_lines(needs[need], path))
    for need, users in absent.items():
        say(f"error: missing {need.kind}: {need.name}, for {listed(users)}")
        say(f"hint: {how(need)}")
    if packages := fetchable(absent):
        words = f"{program()} doctor --install {' '.join(map(str, suites))}"
        say(f"hint: {words} fetches without root: {', '.join(packages)}")
    return UNUSABLE if faulty else MISSING if absent else 0


def _counts(suites: Sequence[Suite], form: Needed) -> str:
    scenarios = counted(len(suites[0].scenarios), "scenario")
    profiles = [suite.profile for suite in suites if suite.profile]
    also = "also " if len(suites) > len(profiles) else ""
    with_profiles = f", {also}with --profile {listed(profiles)}" if profiles else ""
    claims = f", {counted(len(suites[0].claims), 'claim')}" if suites[0].claims else ""
    return f"{scenarios}, {counted(form.cases, 'case')}{claims}{with_profiles}"


def _names(needs: Iterable[Need]) -> str:
    """Name what is needed: of programs that come together the first, then the modules."""
    first: dict[str, str] = {}
    for need in sorted(needs, key=lambda need: need.kind == "module"):
        first.setdefault(need.debian or need.name, need.name)
    return f"needs {listed(list(first.values()))}" if first else "needs nothing else"


def _user_lines(users: Users, path: Path) -> Iterator[str]:
    for place, scenarios in users.items():
        of = f" ({', '.join(scenarios)})" if scenarios else ""
        yield f"{place} in {path}{of}"


def _not_looked_at(suites: Sequence[Suite], forms: Sequence[Needed]) -> Iterator[str]:
    """Yield what only a process or the network could tell."""
    for suite, form in zip(suites, forms, strict=True):
        for label, files in form.runtimes.items():
            modules = ", ".join(form.modules[label])
            inside = f", and whether it has {modules}" if modules else ""
            python = suite.runtimes[label].python
            if files and "/" in python:
                has = f" has {modules}" if modules else " is a Python"
                yield f"runtimes.{label}: whether {files[0]}{has}"
                continue
            if files:
                others = f" or one of {len(files) - 1} more" if len(files) > 1 else ""
                yield f"runtimes.{label}: whether {files[0]}{others} is {python!r}{inside}"
            elif suite.runtimes[label].download:
                yield f"runtimes.{label}: {python!r}, which is to be downloaded"
        for place, refs in form.refs.items():
            yield f"{place}: whether {listed([*refs])} is a commit of its repository"
        for place in form.outside:
            yield f"{place}: whether it runs, since others start it"
