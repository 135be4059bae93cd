"""`benchforge doctor`: the programs of this machine, and whether it is fit for benchmarking."""

import dataclasses
import json
from pathlib import Path

from benchforge.cli.console import options as cli
from benchforge.errors import Unusable

MISSING = 3


class _Options:
    suite: Path | None = cli.argument(required=False, type=cli.SuiteFile())
    install: bool = cli.option(
        help="Download missing Debian packages and unpack them, without root."
    )
    hosts: bool = cli.option(
        help="Connect the hosts of SUITE, and check what the parts on them need."
    )
    profile: str | None = cli.ONE_PROFILE
    settings: tuple[tuple[str, str], ...] = cli.SETTINGS
    only: tuple[str, ...] = cli.only("Check")
    as_json: bool = cli.AS_JSON


@cli.click_command("doctor", _Options)
def command(options: _Options) -> int:
    """Check which programs this machine has and whether it is fit for benchmarking.

    With SUITE, check what the suite needs; without it, what all installed parts need. Warnings do
    not affect the exit code.

    Exit codes: 0 everything needed is present; 2 SUITE or the command line cannot be used; 3
    a program or package that SUITE needs is missing, or --install cannot fetch it.
    """
    from benchforge.cli.console.named_file import loaded
    from benchforge.cli.console.say import say, show
    from benchforge.cli.machine.doctor.install import install
    from benchforge.cli.machine.doctor.report import installed, lines, look_at_hosts, report
    from benchforge.cli.suites.check.profiles import load_all
    from benchforge.parts.registry import Registry
    from benchforge.run.locate import missing
    from benchforge.run.programs.needed import fetchable, needed, together
    from benchforge.suite.toml.faults import SuiteErrors
    from benchforge.text.program import program

    suite, registry = options.suite, Registry()
    profile, settings, only = options.profile, options.settings, options.only
    if options.hosts:
        if suite is None:
            raise Unusable("--hosts: no suite is named", "name the suite that declares the hosts")
        return look_at_hosts(loaded(suite, registry, profile, settings, only))
    forms, faults = load_all(suite, registry, profile, settings, only) if suite else ([], ())
    if faults:
        raise SuiteErrors(faults)
    needed_by_form = [*map(needed, forms)] if suite else [installed(registry)]
    needs = together(needed_by_form)
    folder = Path() if suite is None else suite.parent
    if options.install:
        return MISSING if install(needs, folder, all_of_them=suite is not None) else 0
    findings = report(forms, needed_by_form, needs, folder)
    if options.as_json:
        document = {part: [*map(dataclasses.asdict, group)] for part, group in findings.items()}
        show(json.dumps(document, indent=2))
    else:
        show("\n".join(lines(findings)), painted=True)
        if fetched := fetchable(missing(needs, folder)):
            words = [f"{program()} doctor --install", *([str(suite)] if suite else [])]
            say(f"hint: {' '.join(words)} fetches without root: {', '.join(fetched)}")
    lacks = any(entry.state == "missing" for group in findings.values() for entry in group)
    return MISSING if suite is not None and lacks else 0
