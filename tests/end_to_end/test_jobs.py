"""The jobs of docs/how-to/gate.md and action.yml, run step by step, as GitHub and GitLab do."""

import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pytest
import yaml
from front_door import captured
from installed import ROOT, cloned
from repository import git

pytestmark = pytest.mark.network

PAGE = (ROOT / "docs/how-to/gate.md").read_text()
SUITE = """benchforge = 1
gate.irrelevant = ["README"]
servers.hello = { use = "waitress", app = "hello:app", directory = ".", threads = 1 }
loaders.closed = { use = "pace", connections = 2, duration = "1s" }
scenarios.hello = { servers = ["hello"], loaders = ["closed"], expect = { status = 200 } }
"""
APP = """def app(environ, start_response):
    body = b"Hello" * {times}
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]
"""
WITHIN_S = 300
VALUE = re.compile(r"\$\{\{(.+?)\}\}")


class Job(NamedTuple):
    """A job's machine: a shallow clone of a pull request, and a folder of the runner."""

    clone: Path
    base: str
    temp: Path

    @property
    def surroundings(self) -> dict[str, str]:
        tools = Path(sys.executable).parent
        return {
            "PATH": f"{self.temp / 'benchforge/bin'}:{tools}:{os.environ['PATH']}",
            "HOME": str(self.temp),
            "LC_ALL": "C.UTF-8",
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_STEP_SUMMARY": str(self.temp / "summary.md"),
            "GITHUB_OUTPUT": str(self.temp / "outputs"),
            "GITHUB_REPOSITORY": "somebody/app",
            "CI_MERGE_REQUEST_DIFF_BASE_SHA": self.base,
        } | {name: item for name, item in os.environ.items() if name.startswith(("PIP_", "UV_"))}

    def run(self, script: str, options: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        """Run a step as a runner does."""
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        environment = self.surroundings | dict(options)
        return captured(words, cwd=self.clone, env=environment, timeout=WITHIN_S)


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """Make a pull request of an app, cloned without its history."""
    folder = tmp_path_factory.mktemp("job")
    origin = folder / "origin"
    origin.mkdir()
    git(origin, "init", "--quiet", "--initial-branch=main")
    (origin / "suite.toml").write_text(SUITE)
    (origin / "requirements.txt").write_text("waitress==3.0.2\n")
    (origin / "README").touch()
    commits = []
    for times in (1, 2):
        (origin / "hello.py").write_text(APP.format(times=times))
        git(origin, "add", "--all")
        git(origin, "commit", "--quiet", "--message", f"{times}")
        commits.append(git(origin, "rev-parse", "HEAD"))
    git(origin, "config", "uploadpack.allowAnySHA1InWant", "true")
    (folder / "temp").mkdir()
    git(folder, "clone", "--quiet", "--depth=1", origin.as_uri(), folder / "clone")
    return Job(folder / "clone", commits[0], folder / "temp")


class Action:
    """The action, whose steps run as a runner runs them; installed once."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.document = yaml.safe_load((ROOT / "action.yml").read_text())
        self.steps = {step["name"]: step for step in self.document["runs"]["steps"]}
        inputs = self.document["inputs"].items()
        self.values = {
            **{f"inputs.{name}": str(item.get("default", "")) for name, item in inputs},
            "inputs.suite": "suite.toml",
            "inputs.time": "4s",
            "github.action_path": str(cloned(job.temp / "action")),
            "github.event.pull_request.base.sha": job.base,
            "github.event.pull_request.number": "7",
        }

    def step(
        self, name: str, inputs: Mapping[str, str], environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Run a step of the action."""
        values = self.values | {f"inputs.{label}": text for label, text in inputs.items()}
        declared = self.steps[name].get("env", {}).items()
        options = {label: valued(str(item), values) for label, item in declared}
        return self.job.run(self.steps[name]["run"], {**options, **environment})

    def gated(self, **inputs: str) -> tuple[int, dict[str, str], str]:
        """Compare. Return the exit code, the outputs of the action, and all that was printed."""
        (self.job.temp / "outputs").unlink(missing_ok=True)
        shutil.rmtree(self.job.temp / "gate", ignore_errors=True)
        ended = self.step("Compare with the base", inputs, {})
        lines = (self.job.temp / "outputs").read_text().splitlines()
        pairs = (line.partition("=") for line in lines)
        stale = [name for name in self.values if name.startswith("steps.gate.")]
        self.values |= dict.fromkeys(stale, "")
        self.values |= {f"steps.gate.outputs.{name}": text for name, _, text in pairs}
        outputs = self.document["outputs"].items()
        given = {name: valued(item["value"], self.values) for name, item in outputs}
        return ended.returncode, given, ended.stdout + ended.stderr


@pytest.fixture(scope="module")
def action(job: Job) -> Action:
    """Install the action, and fetch the base."""
    installed_ = Action(job)
    for name in ("Install benchforge", "Fetch the base"):
        ended = installed_.step(name, {}, {})
        assert ended.returncode == 0, ended.stdout + ended.stderr
    return installed_


def valued(text: str, values: Mapping[str, str]) -> str:
    """Fill in the expressions of a value: names, of which the first that is not empty counts."""

    def first(match: re.Match[str]) -> str:
        names = [name.strip() for name in match[1].split("||")]
        return next((values[name] for name in names if values.get(name)), "")

    return VALUE.sub(first, text)


def jobs_of_the_page() -> Iterator[dict[str, Any]]:
    for text in re.findall(r"```text\n(.+?)```", PAGE, flags=re.DOTALL):
        if re.match(r"on: |gate:\n", text):
            yield yaml.safe_load(text)


def test_the_action_measures(job: Job, action: Action) -> None:
    """A gate of four seconds: whatever it says, each output says the same."""
    code, outputs, printed = action.gated()
    assert code in {0, 1, 4}, printed
    assert f"against commit {job.base[:7]}" in printed
    assert "servers.hello: 1 package of requirements.txt" in printed
    comment = Path(outputs["comment"]).read_text()
    assert comment.startswith("### benchforge gate\n")
    assert outputs["verdict"].upper() in comment
    assert "| hello · hello · closed |" in comment
    assert bool(outputs["ratio"]) == bool(outputs["interval"])
    assert comment in (job.temp / "summary.md").read_text()
    assert "<testsuites" in (job.temp / "gate/junit.xml").read_text()
    assert json.loads((job.temp / "gate/badge.json").read_text())["label"] == "benchforge gate"
    keep = action.steps["Keep the page"]["with"]["path"]
    assert Path(valued(keep, action.values)).read_text().startswith("<!doctype html>")


WRONG = APP.replace('"200 OK"', '"500 Sorry"').format(times=1)
SLOW = APP.replace("    body", "    __import__('time').sleep(0.005)\n    body", 1).format(times=1)
PLAIN = APP.format(times=1)
EQUAL = f"{PLAIN}# equal\n"
FINE = {"time": "20s", "limit": "0.1%"}
"A loss that no interval of equal servers excludes."


@pytest.mark.samples(2)  # of the first and of the sixth case
@pytest.mark.parametrize(
    ("head", "inputs", "code", "verdict"),
    [
        (WRONG, {"undecided": "pass"}, 1, "broken"),
        (WRONG, {"undecided": "rerun"}, 1, "broken"),
        (f"{PLAIN}raise SystemExit(3)\n", {}, 1, "broken"),
        (SLOW, {"time": "60s"}, 1, "slower"),
        (PLAIN, {"profile": "none"}, 2, ""),
        (PLAIN, {"only": "hello other"}, 2, ""),
        (EQUAL, {"time": "60s", "limit": "50%"}, 0, "not slower"),
        (EQUAL, FINE, 0, "undecided"),
        (EQUAL, FINE | {"undecided": "fail"}, 4, "undecided"),
        (EQUAL, FINE | {"undecided": "rerun", "time": "10s"}, 4, "undecided"),
        (EQUAL, {"time": "1s"}, 4, "undecided"),
    ],
)
def test_the_action_ends_with_each_outcome(
    job: Job, action: Action, head: str, inputs: dict[str, str], code: int, verdict: str
) -> None:
    (job.clone / "hello.py").write_text(head)
    ended, outputs, printed = action.gated(**inputs)
    git(job.clone, "checkout", "--quiet", "hello.py")
    assert (ended, outputs["verdict"]) == (code, verdict), printed


def test_the_action_passes_a_change_of_irrelevant_files_at_once(job: Job, action: Action) -> None:
    (job.clone / "hello.py").write_text(PLAIN)
    (job.clone / "README").write_text("more\n")
    git(job.clone, "commit", "--quiet", "--all", "--message", "the app of the base, and a page")
    ended, outputs, printed = action.gated()
    git(job.clone, "reset", "--quiet", "--hard", "HEAD~1")
    assert (ended, outputs["verdict"], outputs["ratio"]) == (0, "not slower", ""), printed
    assert valued(action.steps["Keep the page"]["with"]["path"], action.values) == ""


class Comments(http.server.BaseHTTPRequestHandler):
    """The comments of a pull request, as GitHub's API has them."""

    rows: ClassVar[list[dict[str, Any]]] = []
    forbidden: ClassVar[bool] = False

    def do_GET(self) -> None:
        assert self.path == "/repos/somebody/app/issues/7/comments?per_page=100&page=1"
        self._answer(200, self.rows)

    def do_POST(self) -> None:
        if self.forbidden:
            self._answer(403, {"message": "Resource not accessible"})
            return
        self.rows.append({"id": len(self.rows) + 1, **self._body()})
        self._answer(201, self.rows[-1])

    def do_PATCH(self) -> None:
        self.rows[int(self.path.rpartition("/")[2]) - 1] |= self._body()
        self._answer(200, {})

    def _body(self) -> dict[str, Any]:
        assert self.headers["Authorization"] == "Bearer secret"
        body: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        return body

    def _answer(self, status: int, document: object) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(document).encode())


@pytest.fixture
def api() -> Iterator[str]:
    """Serve comments, and give the URL."""
    Comments.rows[:] = [{"id": 1, "body": "a person's"}]
    with http.server.HTTPServer(("127.0.0.1", 0), Comments) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_comment_is_written_once_and_then_renewed(
    job: Job, action: Action, api: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (job.temp / "gate").mkdir(exist_ok=True)
    comment = job.temp / "gate/comment.md"
    bodies: list[str] = []

    def written(suite: str, text: str) -> str:
        comment.write_text(text)
        inputs = {"token": "secret", "suite": suite}
        ended = action.step("Comment on the pull request", inputs, {"GITHUB_API_URL": api})
        assert ended.returncode == 0, ended.stderr
        bodies[:] = [row["body"].partition("-->\n")[2] for row in Comments.rows]
        return ended.stdout

    written("suite.toml", "first")
    written("suite.toml", "second")
    written("other.toml", "third")
    assert bodies == ["", "second", "third"]
    monkeypatch.setattr(Comments, "forbidden", True)
    assert written("new.toml", "fourth").startswith("::warning::the verdicts are in the job's")
    assert bodies == ["", "second", "third"]


def test_each_step_but_the_first_ones_has_the_condition_that_it_needs(action: Action) -> None:
    conditions = {name: step.get("if", "") for name, step in action.steps.items()}
    assert not any([*conditions.values()][:3])
    assert "inputs.token != ''" in conditions["Comment on the pull request"]
    assert "steps.gate.outputs.page != ''" in conditions["Keep the page"]
    assert all("!cancelled()" in text for text in [*conditions.values()][3:])


@pytest.mark.exhaustive
@pytest.mark.parametrize("version", ["3.12", "3.13"])
def test_the_action_takes_a_version_of_python(job: Job, action: Action, version: str) -> None:
    temp = job.temp / version
    temp.mkdir()
    environment = {"RUNNER_TEMP": str(temp)}
    ended = action.step("Install benchforge", {"python-version": version}, environment)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    python = job.run('"$RUNNER_TEMP/benchforge/bin/python" --version', environment)
    assert python.stdout.startswith(f"Python {version}.")


def test_the_jobs_are_valid(job: Job, action: Action) -> None:
    github, gitlab = jobs_of_the_page()
    (use,) = [step for step in github["jobs"]["gate"]["steps"] if "benchforge" in step["uses"]]
    assert use["with"].keys() <= action.document["inputs"].keys()
    assert github["permissions"] == {"contents": "read"}
    for kind in ("inputs", "outputs"):
        assert [name for name in action.document[kind] if f"`{name}`" not in PAGE] == []
    fetch, compare = gitlab["gate"]["script"]
    ended = job.run(fetch, {})
    assert ended.returncode == 0, ended.stderr
    ended = job.run(f"{compare} --time 4s", {})
    assert ended.returncode in {0, 1, 4}, ended.stderr
    assert f"against commit {job.base[:7]}" in ended.stdout
    assert (job.clone / gitlab["gate"]["artifacts"]["reports"]["junit"]).is_file()
    assert (job.clone / gitlab["gate"]["artifacts"]["paths"][0]).is_dir()
