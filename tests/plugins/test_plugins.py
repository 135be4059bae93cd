"""`benchforge plugins`: the list, a part, a dry run, and a package that works at once."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from front_door import Bench, bench_words, calls, captured, needed
from third_party import LOADER, Installs

from benchforge.cli.plugins.examination.examine import examine
from benchforge.cli.plugins.examination.hostile import damages
from benchforge.cli.plugins.examination.inputs import Recording
from benchforge.parts.kinds import Kind
from benchforge.parts.part import Loader
from benchforge.parts.registry import Registry
from benchforge.run.locate import locate

OUTPUTS = Path(__file__).parents[1] / "outputs"
ROOT = Path(__file__).parents[2]
POINTS = {"loader-mine": "mine_loader"}
# What a part cannot do without.
OPTIONS: Mapping[str, dict[str, Any]] = {
    "loader-hyperfine": {"command": ["{python}", "get.py", "{url}"], "requests": 1},
    "server-command": {"command": ["./serve", "{port}"]},
    "server-url": {"url": "http://127.0.0.1:8080"},
    **{
        f"server-{name}": {"app": "hello_wsgi"}
        for name in ("cheroot", "cherrypy", "gevent", "granian", "gunicorn", "uwsgi", "waitress")
    },
    **{f"server-{name}": {"app": "hello_asgi"} for name in ("hypercorn", "uvicorn")},
    "server-aiohttp": {"app": "aiohttp_agents"},
    "server-api_hour": {"app": "agents_api_hour"},
    "server-threads": {"app": "pong_socket"},
    "server-tornado": {"app": "hello_tornado"},
}
KINDS: tuple[Kind, ...] = ("server", "backend", "loader", "client", "metric", "reporter", "reader")
PARTS = [(kind, name) for kind in KINDS for name in Registry().names(kind)]
RECORDED = sorted(folder for folder in OUTPUTS.glob("*/*") if folder.is_dir())
FIRST_OF_TOOL = {folder.parent: folder for folder in reversed(RECORDED)}
# Lines that the tool prints only where there is something to tell: without one, nobody can see it.
MAY_BE_MISSING = {
    "ab": ("'Non-2xx responses:",),
    "wrk2": ("'Non-2xx or 3xx responses:", "'Socket errors:"),
}


# Every part that comes with benchforge


@pytest.mark.parametrize(("kind", "name"), PARTS)
def test_no_part_of_ours_has_a_defect(
    kind: Kind, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a server takes its folder's digest with each change of an option
    assert examine(Registry().part(kind, name), OPTIONS.get(f"{kind}-{name}")).defects == []


@pytest.mark.parametrize(
    "folder",
    [
        pytest.param(
            folder,
            id=f"{folder.parent.name}/{folder.name}",
            marks=[pytest.mark.exhaustive] * (folder not in FIRST_OF_TOOL.values()),
        )
        for folder in RECORDED
    ],
)
def test_no_loader_of_ours_believes_a_damaged_output(folder: Path) -> None:
    tool = folder.parent.name
    cls = Registry().part("loader", tool)
    assert issubclass(cls, Loader)
    examination = examine(cls, {}, [Recording.of(folder)])
    assert examination.defects == []
    (read,) = examination.readings
    assert read.refused or read.damages > 0
    texts = (finding.text for finding in examination.findings)
    believed = [text for text in texts if "accepts a damaged output" in text]
    rare = MAY_BE_MISSING.get(tool, ())
    assert [text for text in believed if not any(line in text for line in rare)] == []


def test_damages_are_other_than_what_they_damage() -> None:
    content = b"requests: 12\nseconds: 1.5\n"
    everything = dict(damages(content))
    assert content not in everything.values()
    assert everything["without line 1, 'requests: 12'"] == b"seconds: 1.5\n"
    assert everything["with a negative number for 1.5 in line 2"] == b"requests: 12\nseconds: -23\n"
    assert len(everything) == 5 + 2 + 2 * 3


# The list, and one part


def test_the_list_has_every_part_and_says_which_is_broken(bench: Bench, installs: Installs) -> None:
    installs("their-loader", POINTS, {"mine_loader.py": "raise ValueError('no luck')"})
    installs("notes", {"notes": "notes"}, {"notes.py": ""})
    call = bench("plugins", code=0)
    lines = {line.split()[0]: line for line in call.out.splitlines()}
    assert set(lines) == {f"{kind}-{name}" for kind, name in PARTS} | {"loader-mine", "notes"}
    assert "benchforge_loaders.wrk.wrk" in lines["loader-wrk"]
    assert "wrk 4: each connection sends its next request" in lines["loader-wrk"]
    assert "their-loader 1.0" in lines["loader-mine"]
    assert "BROKEN: plugin loader-mine" in lines["loader-mine"]
    assert "ValueError: no luck" in lines["loader-mine"]
    document = json.loads(bench("plugins", "--json").out)
    assert {row["name"] for row in document if row["broken"]} == {"loader-mine"}


def test_a_part_is_shown_with_its_options_and_needs(bench: Bench) -> None:
    run = bench("plugins", "show", "wrk").out
    assert run.startswith("loader wrk, ")
    assert "\n\nreader wrk, " in run
    assert run.startswith("loader wrk, of benchforge-http ")
    assert "  connections: a whole number, at least 1, default 64\n" in run
    assert "\n  wrk, a program: " in run
    assert "ports: http, https" in bench("plugins", "show", "nginx").out
    assert "unit: " in bench("plugins", "show", "throughput").out
    gunicorn = bench("plugins", "show", "gunicorn").out
    assert "depends on its options: server-gunicorn: it needs the option 'app'" in gunicorn
    entries = bench("plugins", "show", "gunicorn", "--set", "app=hello_wsgi").out
    assert "  gunicorn, a module: " in entries


def test_a_folder_that_is_there_is_left_alone(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "something").write_text("")
    words = ("new", "server", "x", "--folder", ".")
    assert ".: it exists already" in bench("plugins", *words, code=2).err


# The dry run


def test_a_check_shows_commands_and_readings(bench: Bench) -> None:
    call = bench("plugins", "check", "wrk", "--output", OUTPUTS / "wrk/mixed", code=0)
    assert "-t1 -c64 -d10s --timeout 2s" in call.out
    head = "BENCHFORGE_WRK_HEAD=/trial/request-head BENCHFORGE_WRK_BODY=/trial/request-body"
    assert head in call.out
    assert "refused: wrk: a HEAD request" in call.out
    assert "responses    81190; 40595 good responses" in call.out
    assert "warning: it ignores the CA file" in call.err


def test_an_output_without_a_reading_is_told_with_another_code(bench: Bench) -> None:
    call = bench("plugins", "check", "wrk", "--output", OUTPUTS / "wrk/tool-killed", code=4)
    assert "no reading: wrk: " in call.out


def changed(*pairs: str) -> str:
    code = LOADER
    for earlier, later in zip(pairs[::2], pairs[1::2], strict=True):
        assert earlier in code
        code = code.replace(earlier, later)
    return code


def test_a_loader_that_drops_what_was_asked_has_defects(bench: Bench, installs: Installs) -> None:
    installs("their-loader", POINTS, {"mine_loader.py": LOADER})
    call = bench("plugins", "check", "mine", code=1)
    for dropped in ("the method", "HEAD", "a header", "the header Host", "the body"):
        assert f"defect: it ignores {dropped}: neither sent nor refused" in call.err
    assert "it ignores the path" not in call.err
    assert "warning: for_warm_up() ignores the seconds" in call.err


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ((", self.connections", ""), "warning: option 'connections' changes nothing"),
        ((", target.url", ""), "defect: it ignores the server"),
        (("target.python,", "target.programs['mine'],"), "defect: GET /: commands(): KeyError"),
        (("return [Command", "return []  # [Command"), "defect: GET /: commands(): no command"),
        (("return 1.0", "return 0"), "defect: declared_s() is 0"),
        (("return self\n", "return None\n"), "defect: for_warm_up(): None is no load"),
        (('    """It only counts."""\n', ""), "warning: Mine has no docstring"),
        (('    "How many."\n', ""), "0 defects"),
        (
            ("    def read(", "    def needs(self):\n        1 / 0\n\n    def read("),
            "defect: needs(): ZeroDivisionError: division by zero",
        ),
    ],
)
def test_each_fault_of_a_loader_is_told(
    bench: Bench, installs: Installs, pairs: tuple[str, ...], expected: str
) -> None:
    if expected == "0 defects":  # sends all that it is asked: nothing is left to tell
        pairs = (*pairs, "target.url)", "target.url, target.request)")
    installs("their-loader", POINTS, {"mine_loader.py": changed(*pairs)})
    assert expected in bench("plugins", "check", "mine").err


@pytest.mark.parametrize(
    ("refused", "expected"),
    [
        ("not output.stdout", "with a negative number for 7 in line 1: accepts a damaged output"),
        ("int(output.stdout) != 7", "emptied: crashes: ValueError: invalid literal for int()"),
    ],
)
def test_a_loader_that_believes_what_is_damaged_has_defects(
    bench: Bench, installs: Installs, tmp_path: Path, refused: str, expected: str
) -> None:
    # It reads its number: what it makes of another one shows.
    number = ("seconds=1, responses=7", "seconds=1, responses=len(output.stdout) + 6")
    code = changed('if output.stdout != "7\\n":', f"if {refused}:", *number)
    installs("their-loader", POINTS, {"mine_loader.py": code})
    (tmp_path / "out.txt").write_text("7\n")
    call = bench("plugins", "check", "mine", "--output", "out.txt", code=1)
    assert f"defect: out.txt: stdout.txt {expected}" in call.err


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        (("return Reading(", "Reading("), "TypeError: it returns NoneType, not a Reading"),
        (("seconds=1", "seconds=-1"), "Reading.seconds: Input should be greater than"),
        (("responses=7, good", "good"), "Reading.responses: Field required"),
    ],
)
def test_what_is_no_reading_is_told_by_its_field_and_once(
    bench: Bench, installs: Installs, tmp_path: Path, pairs: tuple[str, ...], expected: str
) -> None:
    installs("their-loader", POINTS, {"mine_loader.py": changed(*pairs)})
    (tmp_path / "out.txt").write_text("7\n")
    call = bench("plugins", "check", "mine", "--output", "out.txt", code=1)
    assert f"out.txt: no reading: {expected}" in call.out
    assert call.err.count("defect: out.txt") == 1
    assert f"defect: out.txt: read() crashes: {expected}" in call.err


@pytest.mark.parametrize("question", ["declared_s", "for_warm_up"])
def test_a_pydantic_error_names_its_field(bench: Bench, installs: Installs, question: str) -> None:
    body = f"    def {question}(self, *_):\n        return Mine(connections=0)\n"
    code = changed("@hookimpl", f"{body}\n\n@hookimpl")
    installs("their-loader", POINTS, {"mine_loader.py": code})
    text = f"{question}(): Mine.connections: Input should be greater than 0"
    assert text in bench("plugins", "check", "mine").err


# A package of one's own


@pytest.mark.parametrize("kind", ["backend", "client", "metric", "reader", "reporter"])
def test_a_new_package_passes_its_tests_and_its_example_is_measured(
    bench: Bench, installs: Installs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """The package is found as an installed one, without the network."""
    call = bench("plugins", "new", kind, "echo_all", code=0)
    package = tmp_path / "benchforge-echo-all"
    points = tomllib.loads((package / "pyproject.toml").read_text())["project"]["entry-points"]
    installs("benchforge-echo-all", points["benchforge"], {})
    monkeypatch.setenv("PYTHONPATH", f"{package / 'src'}:{tmp_path / 'site'}")
    tests = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert " passed" in run(*tests, cwd=package, environment=dict(os.environ))
    *_, check, measure = call.out.splitlines()
    installed = calls(bench_words(), package)
    examined = installed(*shlex.split(check)[1:], code=0)
    assert f"{kind}-echo_all: 0 defects, 0 warnings" in examined.all
    smoke = () if kind == "reader" else ("--set", "smoke=true")  # a reader audits
    installed(*shlex.split(measure)[1:], *smoke, code=0)


@pytest.mark.samples(1)
@pytest.mark.network
@pytest.mark.timeout(1000)
@pytest.mark.parametrize(("kind", "way"), [("loader", "pip"), ("server", "uv")])
def test_each_line_of_plugins_new_works(tmp_path: Path, wheel: Path, kind: str, way: str) -> None:
    """In an environment with pip, and in one without, as a clone's is."""
    needed("uv")
    uv, python = locate("uv"), tmp_path / "venv/bin/python"
    seed = ["--seed"] if way == "pip" else []
    run(uv, "venv", "-q", *seed, "--python", sys.executable, tmp_path / "venv")
    run(uv, "pip", "install", "-q", "--python", python, wheel)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/uv").symlink_to(str(uv))
    surroundings = os.environ | {"PATH": f"{tmp_path}/bin:{os.defpath}"}
    surroundings.pop("VIRTUAL_ENV", None)
    bench = calls([str(python.with_name("benchforge"))], tmp_path, surroundings)
    call = bench("plugins", "new", kind, "echo_all", code=0)
    lines = call.out.partition("next:\n")[2].splitlines()
    assert any("--no-index --no-deps --no-build-isolation -e ." in line for line in lines)
    assert (" uv pip " in call.out.replace("/uv ", " uv ")) == (way == "uv")
    *first, last = lines
    assert " passed" in run("sh", "-exc", "\n".join(first), cwd=tmp_path, environment=surroundings)
    program, *words = shlex.split(last)
    measures = calls([program], tmp_path / "benchforge-echo-all", surroundings)
    # A smoke asks nothing of the machine.
    measures(*words, "--set", "smoke=true", within_s=300, code=0)
    assert list(tmp_path.glob("benchforge-echo-all/results/*/report.md"))
    if kind == "loader":  # the tests are true of what an author records, too
        package = tmp_path / "benchforge-echo-all"
        recorded = {"seconds": 2.5, "responses": 3, "statuses": {"200": 3}, "lost": 0}
        text = json.dumps(recorded | {"latency_us": {"900": 3}}, indent=1)
        (package / "tests/outputs/healthy/stdout.txt").write_text(text)
        shutil.rmtree(package / "tests/outputs/missing")
        again = ("-m", "pytest", "-q", "-k", "not measured")
        assert "2 passed" in run(python, *again, cwd=package, environment=surroundings)


def run(*words: object, cwd: Path | None = None, environment: dict[str, str] | None = None) -> str:
    done = captured(
        list(map(str, words)), cwd=cwd, env=environment, stdin=subprocess.DEVNULL, timeout=380
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr
