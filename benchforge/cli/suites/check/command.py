"""`benchforge check`: faults of suites, and their missing programs and packages."""

from pathlib import Path

from benchforge.cli.console import options as cli

UNUSABLE, MISSING = 2, 3


class _Options:
    suites: tuple[Path, ...] = cli.argument(required=True, type=cli.SuiteFile())
    profile: str | None = cli.ONE_PROFILE
    settings: tuple[tuple[str, str], ...] = cli.SETTINGS
    only: tuple[str, ...] = cli.only("Check")


@cli.click_command("check", _Options)
def command(options: _Options) -> int:
    """Check SUITES for errors, missing programs and missing packages.

    This starts no process and works on any system. It checks each suite without a profile and with
    each of its profiles.

    Exit codes: 0 nothing is wrong or missing; 2 a suite has errors; 3 a program or a package is
    missing.
    """
    from benchforge.cli.console.say import say, show
    from benchforge.cli.suites.check.profiles import counts, load_all, names, remarks, users_of
    from benchforge.errors import BenchforgeError
    from benchforge.parts.command import Need
    from benchforge.parts.registry import Registry
    from benchforge.run.locate import missing
    from benchforge.run.programs.needed import Needed, fetchable, how, needed, together
    from benchforge.suite.toml.faults import SuiteErrors, SuiteFault
    from benchforge.text.program import program
    from benchforge.text.readable import listed

    registry = Registry()
    absent: dict[Need, list[str]] = {}
    faulty: list[Path] = []
    for path in options.suites:
        suites, wrong = load_all(path, registry, options.profile, options.settings, options.only)
        faults = list(wrong)
        forms: list[Needed] = []
        for suite in suites:
            try:
                forms.append(needed(suite))
            except BenchforgeError as error:
                faults.append(SuiteFault(str(path), error.message, hint=error.hint))
        if faults:
            faulty.append(path)
            say(SuiteErrors(list(dict.fromkeys(faults))).text())
            continue
        needs = together(forms)
        show(f"{path}: good: {counts(suites, forms[0])}; {names(needs)}")
        for line in dict.fromkeys(remarks(suites, forms)):
            show(f"{path}: {line}")
        for need in missing(needs, path.parent):
            absent.setdefault(need, []).extend(users_of(needs[need], path))
    for need, users in absent.items():
        say(f"error: missing {need.kind}: {need.name}, for {listed(users)}")
        say(f"hint: {how(need)}")
    if packages := fetchable(absent):
        words = f"{program()} doctor --install {' '.join(map(str, options.suites))}"
        say(f"hint: {words} fetches without root: {', '.join(packages)}")
    return UNUSABLE if faulty else MISSING if absent else 0
