"""What other people's plugins may do wrong, as who runs a suite with them sees it."""

import json
import signal
from pathlib import Path

import pytest
from front_door import Bench, answering
from suite_texts.files import suite_text
from third_party import LOADER, Installs

MODULE = "their_loader"
POINTS = {"loader-mine": MODULE}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = tmp_path / "suite.toml"
    path.write_text(suite_text("plugins/plugins_of_others", server=answering(), use="mine"))
    return path


def changed(first: str, second: str) -> str:
    assert first in LOADER
    return LOADER.replace(first, second)


@pytest.mark.samples(8)
@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (LOADER, "raise ValueError('no\\nluck')", "cannot be imported: ValueError: no\n"),
        (LOADER, "import sys; sys.exit(3)", "cannot be imported: SystemExit: 3"),
        (LOADER, "def broken(:", "cannot be imported: SyntaxError: "),
        (LOADER, "import no_such_module", "cannot be imported: ModuleNotFoundError: "),
        ("return [Mine]", "return []", "brings no loader named 'mine'"),
        ("return [Mine]", "return [7]", "benchforge_parts: 7 is not a part: return subclasses"),
        ("return [Mine]", "return Mine", "benchforge_parts: TypeError: "),
        ("return [Mine]", "return [Mine, str]", "str is not a part"),
        ("return [Mine]", "raise KeyError('a')", "benchforge_parts: KeyError: 'a'"),
        ("_parts():", "_parts(registry):", "hook 'benchforge_parts'"),
        ("def benchforge_parts", "def benchforge_part", "unknown hook 'benchforge_part'"),
        ('name: ClassVar[str] = "mine"', "", "Mine has no name: write name: ClassVar"),
        ('= "mine"', '= "other"', "brings no loader named 'mine'"),
        ("(Loader):", "(Loader):\n    kind = 'server'", "brings no loader named 'mine'"),
        ("(Loader):", "(Loader):\n    kind = 'lorry'", "Mine has no kind"),
        ("    def read(", "    async def read(", "Mine: read() is 'async def': write 'def'"),
        ("    def declared_s", "    def declares_s", "Mine does not answer: write decl"),
        (
            *("connections: PositiveInt", "files: PositiveInt"),
            "option 'files' hides Driver.files: call it otherwise, as in files_ = Field(alias=",
        ),
        ("connections: PositiveInt", "name: str", "benchforge_parts: Mine has no name"),
        ("= 1\n", "= 0\n", "option 'connections': its default 0 is refused: Input should"),
        (
            *("connections: PositiveInt = 1", 'duration: Duration = "10s"'),
            "option 'duration': its default '10s' stays as it is: write Duration(10)",
        ),
        ("connections:", "connections = 5\n    more:", "PydanticUserError: A non-annot"),
    ],
)
def test_a_broken_plugin_is_told_in_a_line_to_who_names_it(
    bench: Bench, suite: Path, installs: Installs, first: str, second: str, expected: str
) -> None:
    installs("their-loader", POINTS, {f"{MODULE}.py": changed(first, second)})
    call = bench("run", suite, code=2)
    line = call.err.splitlines()[0] + "\n"
    assert f"plugin loader-mine ({MODULE}, of their-loader 1.0)" in line
    assert expected in line
    assert "hint: " in call.err


@pytest.mark.samples(3)
@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("if output.stdout !=", "if output.no !=", "read(): AttributeError: 'Output' object"),
        ("return Reading(", "raise SystemExit(0) or Reading(", "read(): SystemExit: 0"),
        ("seconds=1,", "seconds=float('nan'),", "read(): Reading.seconds: Input should be a"),
        ("responses=7", "responses=-7", "read(): Reading.responses: Input should be greater"),
        ("return Reading(", "return dict(", "read(): it returns dict, not a Reading"),
        ("return [Command(", "return 7 or [Command(", "commands(): it returns 7"),
        ("return [Command(", "return 1 / 0 or [Command(", "commands(): ZeroDivisionError"),
        ("return self", "raise KeyError(seconds)", "for_warm_up(): KeyError: 0.1"),
        ("return self", "return None", "for_warm_up(): it returns NoneType, not a Mine"),
    ],
)
def test_a_plugin_that_goes_wrong_in_a_trial_is_its_reason(
    bench: Bench, suite: Path, installs: Installs, first: str, second: str, expected: str
) -> None:
    installs("their-loader", POINTS, {f"{MODULE}.py": changed(first, second)})
    fast = ("--set", "repeat.blocks=1", "--set", 'repeat.warmup="100ms"')
    assert f"loader mine: {expected}" in bench("run", suite, *fast, code=4).err
    (trial, *_) = sorted(suite.parent.glob("results/*/trials/*/trial.json"))
    failure = json.loads(trial.read_text())["failure"]
    assert failure["hint"].endswith("benchforge plugins check loader-mine")


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("float('nan')", "nan is no number of seconds"),
        ("-1", "-1 is no number of seconds"),
        ("'1s'", "'1s' is no number of seconds"),
    ],
)
def test_a_plugin_that_goes_wrong_before_is_told_in_a_line(
    bench: Bench, suite: Path, installs: Installs, seconds: str, expected: str
) -> None:
    installs("their-loader", POINTS, {f"{MODULE}.py": changed("return 1.0", f"return {seconds}")})
    says = f"error: loader mine: declared_s(): {expected}\nhint: "
    assert says in bench("plan", suite, code=2).err


def test_a_need_that_is_none_is_a_defect(bench: Bench, installs: Installs) -> None:
    needs, hook = "    def needs(self):\n        return ['wrk']\n\n", "    def declared_s"
    installs("their-loader", POINTS, {f"{MODULE}.py": changed(hook, needs + hook)})
    call = bench("plugins", "check", "loader-mine", code=1)
    assert "defect: needs(): 'wrk' is no Need" in call.all


BARE = LOADER.partition("\n\n@hookimpl")[0]


def test_an_entry_point_names_a_class(bench: Bench, suite: Path, installs: Installs) -> None:
    """The hook and the class bring the same part, and one distribution may use both."""
    points = {"loader-mine": f"{MODULE}:Mine", "loader-yours": MODULE}
    yours = 'class Yours(Mine):\n    name: ClassVar[str] = "yours"\n'
    hook = "@hookimpl\ndef benchforge_parts():\n    return [Mine, Yours]\n"
    installs("their-loader", points, {f"{MODULE}.py": f"{BARE}\n\n{yours}\n\n{hook}"})
    bench("run", suite, code=0)
    rows = {row["name"]: row for row in json.loads(bench("plugins", "list", "--json").out)}
    for name, origin in points.items():
        assert (rows[name]["origin"], rows[name]["broken"]) == (origin, "")
        assert bench("plugins", "check", name).out.startswith(f"{name} ({origin}, of their-loader")


@pytest.mark.parametrize(
    ("names", "code", "message"),
    [
        ("Yours", BARE, "cannot be imported: AttributeError: module 'their_loader' has no attr"),
        ("Mine", BARE.replace('name: ClassVar[str] = "mine"', ""), "Mine has no name: write name"),
        ("Mine", BARE.replace("(Loader)", ""), "hint: it brings: nothing\n"),
        ("Mine", BARE.replace('"mine"', '"it"'), "hint: it brings: loader 'it'\n"),
        ("Mine", BARE.replace("def read(", "async def read("), "Mine: read() is 'async def': wri"),
    ],
)
def test_a_class_that_an_entry_point_names_in_vain_is_told_in_a_line(
    bench: Bench, suite: Path, installs: Installs, names: str, code: str, message: str
) -> None:
    installs("their-loader", {"loader-mine": f"{MODULE}:{names}"}, {f"{MODULE}.py": code})
    ended = bench("plan", suite, code=2)
    assert f"plugin loader-mine ({MODULE}:{names}, of their-loader 1.0)" in ended.err
    assert message in ended.err


def test_two_distributions_that_bring_one_part_are_both_told(
    bench: Bench, suite: Path, installs: Installs
) -> None:
    installs("their-loader", POINTS, {f"{MODULE}.py": LOADER})
    installs("her-loader", {"loader-mine": "her_loader"}, {"her_loader.py": LOADER}, "2.1")
    call = bench("run", suite, code=2)
    assert "2 plugins bring a loader named 'mine'" in call.err
    for item in ("(their_loader, of their-loader 1.0)", "(her_loader, of her-loader 2.1)"):
        assert item in call.err
    assert "hint: uninstall all of them but one" in call.err


def test_prints_stay_out_of_the_json(bench: Bench, suite: Path, installs: Installs) -> None:
    installs("their-loader", POINTS, {f"{MODULE}.py": "print('hello')\n" + LOADER})
    call = bench("run", suite, "--json", code=0)
    assert json.loads(call.out)["kind"] == "summary"
    assert "hello" in call.err


LISTENER = """
from benchforge.plugin import hookimpl

@hookimpl
def benchforge_facts():
    return {"room": "cold"}

@hookimpl
def benchforge_trial_kept(trial):
    with open("heard.txt", "a") as file:
        file.write(f"{trial.number}\\n")
"""


ALL_HOOKS = """
from pathlib import Path
from benchforge.plugin import hookimpl

def note(hook):
    names = ("result.json", "trial.json", "report.md")
    files = [name for name in names if [*Path("results").rglob(name)]]
    with open("hooks.txt", "a") as file:
        print(hook, *files, file=file)

@hookimpl
def benchforge_parts():
    note("parts")
    return []

@hookimpl
def benchforge_planned(graph):
    note("planned")

@hookimpl
def benchforge_facts():
    note("facts")
    return {"room": "cold"}

@hookimpl
def benchforge_trial_kept(trial):
    note(f"trial_kept {trial.number}")

@hookimpl
def benchforge_judged(summary, verdicts):
    note("judged")
"""


def test_the_hooks_of_a_run_in_their_order(
    bench: Bench, suite: Path, installs: Installs, tmp_path: Path
) -> None:
    """Each line has the files that are on the disk when the hook is called."""
    installs("their-loader", POINTS, {f"{MODULE}.py": LOADER})
    installs("listener", {"notes": "notes"}, {"notes.py": ALL_HOOKS})
    result = bench("run", suite, code=0).result
    assert (tmp_path / "hooks.txt").read_text().splitlines() == [
        "parts",
        "planned",
        "facts",
        "trial_kept 1 result.json trial.json",
        "trial_kept 2 result.json trial.json",
        "judged result.json trial.json report.md",
    ]
    assert json.loads((result / "result.json").read_text())["facts"]["notes"] == {"room": "cold"}


@pytest.mark.samples(2)
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("raise ValueError('x')", "plugin notes (notes, of listener 1.0) cannot be imported: Val"),
        (
            LISTENER.replace("with open", "1 / 0\n    with open"),
            "benchforge_trial_kept: ZeroDivisionError: division by zero; it is not called again",
        ),
        (LISTENER.replace('return {"room": "cold"}', "exit()"), "benchforge_facts: SystemExit"),
        (LISTENER.replace('"cold"', "{1}"), "benchforge_facts: no JSON, left out: {'room': {1}}"),
        (LISTENER.replace("(trial)", "(trials)"), "hook 'benchforge_trial_kept'"),
    ],
)
def test_a_listener_that_fails_is_told_once_and_nothing_is_lost(
    bench: Bench, suite: Path, installs: Installs, tmp_path: Path, code: str, expected: str
) -> None:
    installs("their-loader", POINTS, {f"{MODULE}.py": LOADER})
    installs("listener", {"notes": "notes"}, {"notes.py": code})
    call = bench("run", suite, code=0)
    assert call.err.count(expected) == 1
    assert call.err.count("warning: ") == 1
    assert len(list(tmp_path.glob("results/*/trials/*/trial.json"))) == 2


def test_a_hidden_signal(bench: Bench, suite: Path, installs: Installs, tmp_path: Path) -> None:
    # As C code does that calls Python, and tells every exception in its own words.
    swallowed = (
        "import os, signal\n    try:\n        os.kill(os.getpid(), signal.SIGTERM)\n"
        "    except BaseException as error:\n        raise ValueError(str(error))"
    )
    installs("their-loader", POINTS, {f"{MODULE}.py": LOADER})
    code = LISTENER.replace("with open", f"{swallowed}\n    with open")
    installs("listener", {"notes": "notes"}, {"notes.py": code})
    assert "interrupted: 1 trial kept" in bench("run", suite, code=128 + signal.SIGTERM).err
    assert len(list(tmp_path.glob("results/*/trials/*/trial.json"))) == 1


GREETS = """
import click

@click.command("greet")
@click.argument("name")
def command(name):
    \"\"\"Greet NAME.\"\"\"
    click.echo(f"hello {name}")
    return 7
"""


def test_a_package_may_bring_a_command(bench: Bench, installs: Installs) -> None:
    installs("greeter", {"greet": "greeter"}, {"greeter.py": GREETS}, group="benchforge.commands")
    assert "greet" in bench("--help", code=0).out.partition("More commands:")[2]
    call = bench("greet", "you")
    assert (call.code, call.out) == (7, "hello you\n")
    assert "Usage: benchforge greet" in bench("greet", "--help").out


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (
            "raise ValueError('a\\nb')",
            "command greet (greeter) cannot be imported: ValueError: a\n",
        ),
        ("import no_such_module", "cannot be imported: ModuleNotFoundError: "),
        ("raise SystemExit(3)", "cannot be imported: SystemExit: 3"),
        ("", "cannot be imported: AttributeError: "),
        ("command = 7", "command greet (greeter) is no click command"),
    ],
)
def test_a_broken_command_is_named(bench: Bench, installs: Installs, code: str, told: str) -> None:
    installs("greeter", {"greet": "greeter"}, {"greeter.py": code}, group="benchforge.commands")
    bench("--help", code=0)
    assert told in bench("greet", "you", code=2).err


METRIC = '''
from benchforge.plugin import Metric


class Broken(Metric):
    """It cannot be formed."""

    name = "broken"
    unit = "1"
    better = "higher"

    def of_trial(self, trial, label, window):
        raise ValueError("no luck")
'''


def test_a_raising_metric_costs_no_trial(bench: Bench, tmp_path: Path, installs: Installs) -> None:
    """A run forms its answers from the third block on: it is measured to its end all the same."""
    installs("their-metric", {"metric-broken": "their_metric:Broken"}, {"their_metric.py": METRIC})
    path = tmp_path / "suite.toml"
    use = 'pace", duration = "100ms'
    text = suite_text("plugins/plugins_of_others", server=answering(), use=use)
    text = text.replace("smoke = true\n", "").replace("blocks = 2", 'blocks = 5, quiet = "off"')
    path.write_text(f'{text}\n[metrics.broken]\nuse = "broken"\n')
    call = bench("run", path)
    assert call.code not in {0, 130}
    assert "no luck" in call.err
    files = call.result.glob("trials/*/trial.json")
    assert {json.loads(file.read_text())["block"] for file in files} == {1, 2, 3, 4, 5}
