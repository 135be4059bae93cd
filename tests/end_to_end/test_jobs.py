"""The jobs of docs/how-to/gate.md and action.yml, run step by step, as GitHub and GitLab do."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from front_door import captured
from installed import ROOT
from repository import git

pytestmark = pytest.mark.network

PAGE = (ROOT / "docs/how-to/gate.md").read_text()
SUITE = """benchforge = 1
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
            "CI_MERGE_REQUEST_DIFF_BASE_SHA": self.base,
        } | {name: item for name, item in os.environ.items() if name.startswith(("PIP_", "UV_"))}

    def run(self, script: str, options: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        """Run a step as a runner does."""
        return captured(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=self.clone,
            env=self.surroundings | dict(options),
            timeout=WITHIN_S,
        )


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """Make a pull request of an app, cloned without its history."""
    folder = tmp_path_factory.mktemp("job")
    origin = folder / "origin"
    origin.mkdir()
    git(origin, "init", "--quiet", "--initial-branch=main")
    (origin / "suite.toml").write_text(SUITE)
    (origin / "requirements.txt").write_text("waitress==3.0.2\n")
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


@pytest.fixture(scope="module")
def steps(job: Job) -> dict[str, subprocess.CompletedProcess[str]]:
    """Run all steps of the action. Each but the last ends well."""
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    values = {
        **{
            f"inputs.{name}": str(item.get("default", ""))
            for name, item in action["inputs"].items()
        },
        "inputs.suite": "suite.toml",
        "inputs.time": "4s",
        "github.action_path": str(copied(job.temp / "action")),
        "github.event.pull_request.base.sha": job.base,
    }
    done = {}
    for step in action["runs"]["steps"]:
        options = {name: valued(str(item), values) for name, item in step.get("env", {}).items()}
        ended = job.run(step["run"], options)
        done[step["name"]] = ended
        if step is not action["runs"]["steps"][-1]:
            assert ended.returncode == 0, ended.stdout + ended.stderr
    return done


def valued(text: str, values: Mapping[str, str]) -> str:
    """Fill in the expressions of a value: names, of which the first that is not empty counts."""

    def first(match: re.Match[str]) -> str:
        names = [name.strip() for name in match[1].split("||")]
        return next((values[name] for name in names if values.get(name)), "")

    return VALUE.sub(first, text)


def copied(folder: Path) -> Path:
    """Copy the files of this tree, as a runner checks an action out."""
    words = ["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    for name in listed.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def jobs_of_the_page() -> Iterator[dict[str, Any]]:
    for text in re.findall(r"```text\n(.+?)```", PAGE, flags=re.DOTALL):
        if re.match(r"on: |gate:\n", text):
            yield yaml.safe_load(text)


def test_the_action_measures(job: Job, steps: dict[str, subprocess.CompletedProcess[str]]) -> None:
    last = steps["Compare with the base"]
    assert last.returncode in {0, 1, 4}, last.stderr
    assert f"against commit {job.base[:7]}" in last.stdout
    assert "servers.hello: 1 package of requirements.txt" in last.stderr
    comment = (job.temp / "gate/comment.md").read_text()
    assert comment.startswith("### benchforge gate\n")
    assert "| hello · hello · closed |" in comment
    assert comment in (job.temp / "summary.md").read_text()
    assert "<testsuites" in (job.temp / "gate/junit.xml").read_text()
    assert json.loads((job.temp / "gate/badge.json").read_text())["label"] == "benchforge gate"


def test_the_jobs_are_valid(job: Job, steps: dict[str, subprocess.CompletedProcess[str]]) -> None:
    assert steps
    github, gitlab = jobs_of_the_page()
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    (use,) = [step for step in github["jobs"]["gate"]["steps"] if "benchforge" in step["uses"]]
    assert use["with"].keys() <= action["inputs"].keys()
    assert github["permissions"] == {"contents": "read"}
    fetch, compare = gitlab["gate"]["script"]
    ended = job.run(fetch, {})
    assert ended.returncode == 0, ended.stderr
    ended = job.run(f"{compare} --time 4s", {})
    assert ended.returncode in {0, 1, 4}, ended.stderr
    assert f"against commit {job.base[:7]}" in ended.stdout
    assert (job.clone / gitlab["gate"]["artifacts"]["reports"]["junit"]).is_file()
    assert (job.clone / gitlab["gate"]["artifacts"]["paths"][0]).is_dir()
