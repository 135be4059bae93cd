"""JSON Schema of suites and results, as two independent checkers of editors read it."""

import copy
import json
import os
import random
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from front_door import Bench, answering, captured
from suite_texts.files import suite_text

from benchforge.errors import BenchforgeError
from benchforge.parts.registry import Registry
from benchforge.results.validity.faults import faults
from benchforge.suite.load import load
from benchforge.suite.toml.document import in_toml, paths_of

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs/how-to/write-a-suite.md"
SCHEMAS = ROOT / "schemas"
FIRST = "#:schema ./suite.schema.json\n"
ENVIRONMENT = {"APP": "hello_wsgi", "URL": "postgresql://127.0.0.1/x", "TOKEN": "t0ken-of-ours"}

GOOD = suite_text("cli/suites/schema")


# Each is planted once, in place of what stands in GOOD; where it is told, if that is not its line.
PLANTED = [
    ("unknown option", "workers = 2", "worker = 2", None),
    ("type of an option", "workers = 2", 'workers = "2"', None),
    ("bound of an option", "workers = 2", "workers = 0", None),
    ("unknown use", 'use = "wrk"', 'use = "wrkk"', None),
    ("missing use", 'use = "wrk"\n', "\n", "[loaders.l]"),
    ("missing option", 'app = { env = "APP" }\n', "\n", "[servers.a]"),
    ("not the environment", '{ env = "APP" }', '{ enw = "APP" }', None),
    ("unknown key at the top", 'name = "été"', 'nam = "été"', None),
    ("type at the top", 'name = "été"', 'name = "a b"', None),
    ("another format", "benchforge = 1", "benchforge = 2", None),
    ("missing at the top", "benchforge = 1\n", "\n", FIRST.strip()),
    ("not a duration", 'duration = " 3 s "', 'duration = "3 sek"', None),
    ("type of a duration", 'duration = " 3 s "', "duration = true", None),
    ("unknown key of a scenario", "exclude = [", "exclud = [", None),
    ("missing in a scenario", 'servers = ["a", "é-1"]\n', "\n", "[scenarios.s]"),
    ("no driver", 'loaders = ["l"]\n', "\n", "[scenarios.s]"),
    ("unknown key of a request", "method =", "methd =", None),
    ("not the path of an option", '"path.size" = [1, 2],', '"size" = [1, 2],', None),
    ("nothing varies", '"path.size" = [1, 2],', '"path.size" = [],', None),
    ("missing in a table", 'rows = ["path.size", "server"]\n', "\n", "[tables.t]"),
    ("no metric", 'metric = "m"\n', "\n", "[tables.t]"),
    ("unknown statistic", 'show = ["median"]', 'show = ["medium"]', None),
    ("missing in a claim", 'holds = "a >= 1.5 * b"\n', "\n", "[claims.c]"),
    ("unknown key of a claim", "says = ", "say = ", None),
    ("unknown key of a side", 'loader = "l" }', 'load = "l" }', None),
    ("no margin", 'margin = "5%"', 'margin = "5"', None),
    ("type of what was published", "published = 2", 'published = "2x"', None),
    ("unknown limit", "nofile = 1000", "nofiles = 1000", None),
    ("no CPUs", "loader = [2]", "loader = []", None),
    ("unknown role", "loader = [2]", "loaders = [2]", None),
    ("bound in [repeat]", "blocks = 2", "blocks = 0", None),
    ("unknown key of a profile", "smoke = true", "smok = true", None),
    ("unknown option in a profile", 'duration = "1s"', 'durations = "1s"', None),
    ("value in a profile", 'duration = "1s"', 'duration = "1 sek"', None),
    ("bound of a count", "items = { a = 2 }", "items = -2", None),
    ("scenario in a profile", "{ same_body", "{ same_bdy", None),
    ("label", '[servers."é-1"]', '[servers."é 1"]', None),
]


CHECKERS = {"taplo": ("lint", "--colors", "never"), "tombi": ("lint", "--offline")}
Lint = Callable[[str, Sequence[Path]], dict[Path, list[tuple[int, str]]]]


@pytest.fixture
def lint(tmp_path: Path) -> Lint:
    """Return line and message of each error and warning by taplo or tombi, offline, by file."""
    environment = {"PATH": os.defpath, "HOME": str(tmp_path), "NO_COLOR": "1"}

    def told_by(name: str, files: Sequence[Path]) -> dict[Path, list[tuple[int, str]]]:
        words: list[str | Path] = [Path(sys.executable).parent / name, *CHECKERS[name], *files]
        done = captured(words, cwd=ROOT, env=environment, timeout=300)
        actual: dict[Path, list[tuple[int, str]]] = defaultdict(list)
        lines = re.sub(r"\x1b\[[0-9;]*m", "", done.stderr + done.stdout)
        findall = re.findall(r"(?:error|Error|Warning): (.*)\n\s*(?:┌─|at) (\S+):(\d+):\d+", lines)
        for message, file, line in findall:
            actual[(ROOT / file).resolve()].append((int(line), message))
        assert bool(actual) >= (done.returncode != 0), lines[-2000:]  # none that we did not read
        return dict(actual)

    return told_by


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "suite.schema.json").write_bytes((SCHEMAS / "suite.schema.json").read_bytes())
    return tmp_path


@pytest.mark.parametrize("label", ["suite", "result", "trial", "summary"])
def test_the_committed_schema_is_that_of_the_code(label: str, bench: Bench, tmp_path: Path) -> None:
    call = bench("schema", label, "--builtin")
    assert (call.code, call.err) == (0, "")
    file = SCHEMAS / f"{label}.schema.json"
    assert call.out == file.read_text(), "make schemas"
    assert bench("schema", label, "--builtin", "-o", tmp_path / "x.json").out == ""
    assert (tmp_path / "x.json").read_bytes() == file.read_bytes()


@pytest.mark.parametrize("name", CHECKERS)
def test_every_suite_names_its_schema_and_is_clean(name: str, lint: Lint) -> None:
    suites = [*(ROOT / "suites").rglob("*.toml")]
    assert len(suites) >= 7
    for suite in suites:
        first = suite.read_text().partition("\n")[0]
        named = re.fullmatch(r"#:schema (\S+)", first)
        assert named, f"{suite}: {first}"
        assert (suite.parent / named[1]).samefile(SCHEMAS / "suite.schema.json")
    assert lint(name, suites) == {}


def sound(file: Path) -> bool:
    """Tell whether the loader takes a suite, as it stands and with each of its profiles."""
    profiles = tomllib.loads(file.read_text()).get("profiles", {})
    try:
        for profile in (None, *(profiles if isinstance(profiles, dict) else ())):
            load(file, Registry(), profile=profile)
    except BenchforgeError:
        return False
    return True


def test_clean_suites(folder: Path, lint: Lint, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    blocks = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    readme = "\n".join(blocks)  # a suite, and what the page adds to it
    site = folder / "mysite/mysite/wsgi.py"  # the app of the page's reader
    site.parent.mkdir(parents=True)
    readme = readme.replace('"../mysite"', '"mysite"')
    site.write_text("application = None\n")
    files = [folder / "good.toml", folder / "readme.toml"]
    for file, text in zip(files, (GOOD, readme), strict=True):
        file.write_text(text if text.startswith("#:schema") else FIRST + text)
    load(files[0], Registry(), profile="quick")
    assert all(map(sound, files))
    assert [lint(name, files) for name in CHECKERS] == [{}, {}]


@pytest.mark.parametrize("name", CHECKERS)
def test_a_planted_fault_has_one_place(name: str, folder: Path, lint: Lint) -> None:
    good, files = FIRST + GOOD, {}
    for number, (subject, old, new, _) in enumerate(PLANTED):
        assert good.count(old) >= 1, subject
        files[subject] = folder / f"{number}.toml"
        files[subject].write_text(good.replace(old, new, 1))
    actual = lint(name, list(files.values()))
    wrong = {}
    for subject, old, _, where in PLANTED:
        first = good[: good.index(where or old)]
        errors = actual.get(files[subject].resolve(), [])
        # taplo tells a fault of a table at each of its lines, in the same words; tombi a value of
        # a wrong type once for each that is right. A key that is misspelt may also be missing.
        distinct = {message for _, message in errors if "strict mode" not in message}
        if first.count("\n") + 1 not in [line for line, _ in errors] or len(distinct) > 3:
            wrong[subject] = errors[:4]
    assert wrong == {}


def places(value: Any) -> list[tuple[Any, ...]]:
    return [path for path in paths_of(value, ()) if path]


def changed(tables: Mapping[str, Any], path: tuple[Any, ...], how: str, value: Any) -> Any:
    made = copy.deepcopy(dict(tables))
    *upper, last = path
    inner: Any = made
    for step in upper:
        inner = inner[step]
    if how == "leave out":
        del inner[last]
    elif how == "rename" and isinstance(inner, dict):
        inner[f"{last}x"] = inner.pop(last)
    else:
        inner[last] = value
    return made


VALUES: tuple[Any, ...] = (
    *(0, 1, -1, 3.5, 1e9, True, False, "", "x", "a b", "3s", " 2 min ", "1e3s", "64KiB", "20k/s"),
    *("GET", "sync", "/x", "1.5 ms", [], ["x"], [1], [{}], {}, {"env": "TOKEN"}, {"env": "APP"}),
    *({"x": 1}, {"env": 3}, {"env": "APP", "x": 1}, [{"env": "APP"}], {"x": {"env": "APP"}}),
)


def toml(tables: Mapping[str, Any]) -> str:
    return "".join(f"{json.dumps(key)} = {in_toml(value)}\n" for key, value in tables.items())


@pytest.mark.samples(1)
@pytest.mark.parametrize("seed", range(6))
def test_it_refuses_nothing_that_the_loader_takes(
    seed: int, folder: Path, lint: Lint, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("TERM", raising=False)
    drawn = random.Random(seed)
    texts = [GOOD, *(file.read_text() for file in sorted((ROOT / "suites").rglob("*.toml")))]
    files, taken = [], []
    for number in range(40):
        tables = tomllib.loads(drawn.choice(texts))
        for _ in range(drawn.choice((1, 1, 2))):
            path = drawn.choice(places(tables))
            how = drawn.choice(("leave out", "rename", "replace", "replace", "replace"))
            tables = changed(tables, path, how, drawn.choice(VALUES))
        files.append(file := folder / f"{number}.toml")
        file.write_text(FIRST + toml(tables))
        if sound(file):
            taken.append(file.resolve())
    assert 2 < len(taken) < 37
    for name in CHECKERS:
        actual = lint(name, files)
        assert {file.read_text(): actual[file] for file in taken if file in actual} == {}
        assert len(actual) > (len(files) - len(taken)) // 2  # it refuses most of what is faulty


def as_toml(value: Any) -> Any:
    """JSON has null and TOML has not: it is written as a word on both sides."""
    if isinstance(value, dict):
        if value == {"type": "null"}:
            return {"const": "null: nothing"}
        return {key: as_toml(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [as_toml(inner) for inner in value]
    return "null: nothing" if value is None else value


# More changes repeat the same three ways: those of `make test` take each in each file.
@pytest.mark.parametrize("each", [2, pytest.param(5, marks=pytest.mark.exhaustive)])
def test_results_fit_a_schema(bench: Bench, tmp_path: Path, lint: Lint, each: int) -> None:
    suite = tmp_path / "small.toml"
    # Three requests: taplo tells a fault at the top once for each number in the histogram.
    suite.write_text(
        f'benchforge = 1\n[servers.one]\n{answering()}\n[loaders.l]\nuse = "pace"\n'
        'requests = 3\n[scenarios.s]\nservers = ["one"]\nloaders = ["l"]\n'
        'vary = { "loaders.l.connections" = [1, 2] }\n[repeat]\nblocks = 1\n'
        '[tables.t]\nscenario = "s"\nrows = "loaders.l.connections"\nmetric = "throughput"\n'
    )
    bench("run", suite, code=0)
    (result,) = tmp_path.glob("results/*")
    real = {name: result / f"{name}.json" for name in ("result", "summary")}
    real["trial"] = result / "trials/0001/trial.json"
    drawn = random.Random(1)
    files, refused, missing = [], [], []
    for subject_, file in real.items():
        schema = as_toml(json.loads((SCHEMAS / f"{subject_}.schema.json").read_text()))
        (tmp_path / f"{subject_}.schema.json").write_text(json.dumps(schema))
        written = json.loads(file.read_text())
        everything = [path for path in places(written) if not {"facts", "suite"} & {*path}]
        changes = [written] + [
            changed(written, path, how, drawn.choice(VALUES))
            for how in ("leave out", "rename", "replace")
            for path in drawn.sample(everything, each)
        ]
        for number, made in enumerate(changes):
            item_ = tmp_path / f"{subject_}-{number}.toml"
            item_.write_text(f"#:schema ./{subject_}.schema.json\n{toml(as_toml(made))}")
            files.append(item_.resolve())
            alone = tmp_path / f"{subject_}-{number}" / file.name
            alone.parent.mkdir()
            alone.write_text(json.dumps(made))
            wrong = [fault for fault in faults(alone) if not fault.message.startswith("has no")]
            if wrong:
                refused.append(item_.resolve())
            if any("is missing" in str(item) or "not known here" in str(item) for item in wrong):
                missing.append(item_.resolve())
    told_of = lint("taplo", files)
    originals = [tmp_path.resolve() / f"{subject}-0.toml" for subject in real]
    assert [told_of.get(file) for file in originals] == [None] * 3
    assert len(refused) > 5 * each
    assert {file.name: told_of[file][:3] for file in told_of if file not in refused} == {}
    assert {file.name for file in missing if file not in told_of} == set()


PLUGIN = '''
from typing import ClassVar
from pydantic import Field, PositiveInt
from benchforge.plugin import Metric, hookimpl


class Odd:
    """A type of its own."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source, handler):
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(str)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema, handler):
        {json_schema}


class Own(Metric):
    """Counts apples.

    Many of them.
    """

    name: ClassVar[str] = "apples"
    unit: ClassVar[str] = "1"
    better: ClassVar[str] = "higher"
    count: PositiveInt = 1
    "How many."
    odd: Odd = Field(default="x")

    def of_trial(self, trial, label, window):
        return iter(())


@hookimpl
def benchforge_parts():
    return [Own]
'''


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the import path with a distribution that brings the metric `apples`."""
    packages = tmp_path / "packages"
    actual = packages / "apples-1.dist-info"
    actual.mkdir(parents=True)
    (actual / "METADATA").write_text("Metadata-Version: 2.1\nName: apples\nVersion: 1\n")
    (actual / "entry_points.txt").write_text("[benchforge]\nmetric-apples = apples_plugin\n")
    monkeypatch.setenv("PYTHONPATH", str(packages))
    return packages / "apples_plugin.py"


def test_a_plugin_is_not_in_the_builtin_schema(bench: Bench, installed: Path) -> None:
    installed.write_text(PLUGIN.replace("{json_schema}", 'return {"type": "string"}'))
    call = bench("schema")
    assert (call.code, call.err) == (0, "")
    apples = json.loads(call.out)["$defs"]["metric-apples"]["properties"]
    assert apples["use"] == {"const": "apples", "description": "Counts apples.\n\nMany of them."}
    assert (apples["count"]["description"], apples["count"]["default"]) == ("How many.", 1)
    assert bench("schema", "--builtin").out == (SCHEMAS / "suite.schema.json").read_text()


def test_a_broken_plugin_loses_its_parts_only(bench: Bench, installed: Path) -> None:
    installed.write_text("import no_such_module\n")
    call = bench("schema", code=0)
    assert call.err == (
        "warning: left out: metric apples: plugin metric-apples (apples_plugin, of apples 1) "
        "cannot be imported: ModuleNotFoundError: No module named 'no_such_module'\n"
    )
    assert call.out == (SCHEMAS / "suite.schema.json").read_text()


def test_no_schema_plugin(bench: Bench, installed: Path, folder: Path, lint: Lint) -> None:
    installed.write_text(PLUGIN.replace("{json_schema}", 'raise RuntimeError("no\\nschema")'))
    call = bench("schema", "-o", folder / "suite.schema.json", code=0)
    assert call.err == "warning: options are not checked: metric apples: RuntimeError: no\n"
    suite = folder / "suite.toml"
    metric = '[metrics.m]\nuse = "apples"\nanything = { at = "all" }\n'
    profile = "[profiles.quick.metrics.m]\nanything = 2\n"
    good = FIRST + re.sub(r"\[metrics\.m\][^\[]*", metric, GOOD) + profile
    suite.write_text(good)
    assert [lint(name, [suite]) for name in CHECKERS] == [{}, {}]
    suite.write_text(good.replace("workers = 2", "worker = 2"))
    assert all(lint(name, [suite]) for name in CHECKERS)


def test_what_cannot_be_asked_or_written_is_told(bench: Bench, tmp_path: Path) -> None:
    assert "'case' is not one of" in bench("schema", "case", code=2).err
    call = bench("schema", "-o", tmp_path / "no" / "x.json", code=5)
    assert "No such file or directory\nhint: choose another file with -o" in call.err
