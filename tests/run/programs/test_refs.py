"""Servers whose code is a commit: checked out once, beside the working tree, which is untouched."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from front_door import WAITS_S, Bench, bench_words, calls, needed, needed_module
from measured.on_disk import only_result
from present import present
from repository import LOAD, commit, git, repository, suite

from benchforge.model.files.folder import read_header, read_trials
from benchforge.model.suite.code import Code
from benchforge.parts.registry import Registry
from benchforge.parts.site import Tree
from benchforge.run.checkout import Git, with_code
from benchforge.run.locate import locate
from benchforge.run.sandbox.host import LocalHost
from benchforge.suite.cases.expand import expand
from benchforge.suite.load import load

SHORT = ("--set", "loaders.pace.duration=200ms")
pytestmark = pytest.mark.usefixtures("git_is_there")
SLOW_TOO = 'def body():\n    return b"slow"\n'
OWN_APP = """
def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "{length}")])
    return [b"{body}"]
"""


@pytest.fixture(scope="module")
def git_is_there() -> None:
    needed("git")


def answers(folder: Path) -> dict[str, set[str]]:
    """Return what each server answered, by its label."""
    actual: dict[str, set[str]] = {}
    for trial in read_trials(folder):
        assert trial.answers, trial.failure
        body = folder / "trials" / f"{trial.number:04}" / "answer.bin"
        actual.setdefault(trial.case.server, set()).add(body.read_text())
    return actual


def test_before_is_the_commit_and_after_the_working_tree(bench: Bench, tmp_path: Path) -> None:
    first, second = repository(tmp_path)
    (tmp_path / "suite.toml").write_text(suite(blocks=2))
    index = (tmp_path / ".git/index").read_bytes()
    refs = git(tmp_path, "for-each-ref")
    document = json.loads(bench("doctor", "suite.toml", "--json").out)["code"]
    assert [(item["state"], item["subject"], item["says"]) for item in document] == [
        ("ok", "servers.before", f"v1 at {first[:7]}"),
        ("ok", "servers.after", f"working tree at {second[:7]}"),
    ]
    call = bench("run", "--details", "suite.toml", "-o", "out", *SHORT, code=4)
    assert "Not comparable: their bodies differ" in call.out
    folder = only_result(tmp_path / "out")
    assert answers(folder) == {"before": {"fast"}, "after": {"slow"}}
    earlier, later = read_header(folder).code
    assert (earlier.server, earlier.ref, earlier.commit) == ("before", "v1", first)
    assert (later.server, later.ref, later.commit) == ("after", None, second)
    assert later.changed_files == 0
    says = f"before: v1 at {first[:7]}; after: working tree at {second[:7]}"
    for text in (call.out, *((folder / f"report.{form}").read_text() for form in ("md", "html"))):
        assert says in text
    assert (tmp_path / ".git/index").read_bytes() == index
    assert git(tmp_path, "for-each-ref") == refs
    assert git(tmp_path, "worktree", "list").count("\n") == 0
    bench("validate", folder, code=0)


def test_what_the_working_tree_changes_is_counted(bench: Bench, tmp_path: Path) -> None:
    repository(tmp_path)
    (tmp_path / "suite.toml").write_text(suite())
    (tmp_path / "app/answer.py").write_text('def body():\n    return b"mine"\n')  # changed
    (tmp_path / "app/new.py").write_text("")  # not known to git, and code
    (tmp_path / "app/.hidden").write_text("")
    (tmp_path / "elsewhere.py").write_text("")  # not known to git, and not below the directory
    call = bench("run", "--details", "suite.toml", "-o", "app/out", *SHORT)
    assert " with 2 changed files" in call.out, call.all
    assert answers(only_result(tmp_path / "app/out"))["after"] == {"mine"}
    (_, document) = json.loads(bench("doctor", "suite.toml", "--json").out)["code"]
    assert document["says"].endswith(" with 2 changed files"), "a result is no code"


def test_an_app_of_ones_own(bench: Bench, tmp_path: Path) -> None:
    needed_module("waitress")
    (tmp_path / "site").mkdir()
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    app = tmp_path / "site/mine.py"
    (tmp_path / ".gitattributes").write_text("mine.py export-ignore\n")
    app.write_text(OWN_APP.format(body="old", length=3))
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message", "old")
    app.write_text(OWN_APP.format(body="newer", length=5))
    server = 'use = "waitress"\napp = "mine:app"\ndirectory = "../site"\n'
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench/suite.toml").write_text(
        f'benchforge = 1\n[servers.before]\n{server}ref = "HEAD"\n[servers.after]\n{server}{LOAD}'
        "blocks = 1\n"
    )
    call = bench("run", "--details", "bench/suite.toml", "-o", "out", *SHORT)
    actual = answers(only_result(tmp_path / "out"))
    assert actual == {"before": {"old"}, "after": {"newer"}}, call.all
    assert " with 1 changed file" in call.out


@pytest.mark.exhaustive
def test_a_program_in_the_repository_is_of_the_commit_too(bench: Bench, tmp_path: Path) -> None:
    repository(tmp_path)
    program = tmp_path / "start"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} serve.py $1\n")
    program.chmod(0o755)
    git(tmp_path, "add", "start")
    git(tmp_path, "commit", "--quiet", "--message", "a program")
    program.unlink()
    text = suite("HEAD").replace(f"'{sys.executable}', \"serve.py\"", '"./start"', 1)
    (tmp_path / "suite.toml").write_text(text)
    bench("run", "suite.toml", "-o", "out")
    assert answers(only_result(tmp_path / "out"))["before"] == {"slow"}


@pytest.mark.samples(3)
@pytest.mark.parametrize(
    ("ref", "directory", "says"),
    [
        ("mian", "app", "ref: no commit 'mian' in {top}"),
        ("HEAD~7", "app", "ref: no commit 'HEAD~7' in {top}"),
        ("v1:app", "app", "ref: no commit 'v1:app' in {top}"),
        ("--all", "app", "ref: expected the name of a branch, tag or commit"),
        ("", "app", "ref: expected the name of a branch, tag or commit"),
        ("v1", "later", "directory: later is not there at v1 ("),
        ("v1", "app/serve.py", "directory: app/serve.py is not there at v1 ("),
        ("v1", "/", "ref: /: not in a git repository"),
    ],
)
def test_what_leads_nowhere(
    bench: Bench, tmp_path: Path, ref: str, directory: str, says: str
) -> None:
    repository(tmp_path)
    text = suite(ref).replace('directory = "app"', f'directory = "{directory}"', 1)
    (tmp_path / "suite.toml").write_text(text)
    for command in ("run", "doctor"):
        call = bench(command, "suite.toml", code=2)
        assert "error: suite.toml:" in call.err
        assert f"servers.before.{says.format(top=tmp_path.resolve())}" in call.err
        nearest = "hint: did you mean 'main'? any commit works; known names: "
        assert (nearest in call.err) is (ref == "mian")
    assert not (tmp_path / "results").exists()


def test_where_nothing_is_committed(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    git(tmp_path, "init", "--quiet")
    (tmp_path / "suite.toml").write_text(suite("HEAD"))
    assert "servers.before.ref: no commit 'HEAD' in" in bench("run", "suite.toml", code=2).err


def test_without_git(tmp_path: Path) -> None:
    repository(tmp_path)
    (tmp_path / "suite.toml").write_text(suite())
    (empty := tmp_path / "empty").mkdir()
    bench = calls(bench_words(), tmp_path, {**os.environ, "PATH": str(empty)})
    for words in (["run"], ["check"], ["serve", "before"]):
        call = bench(words[0], "suite.toml", *words[1:], code=3)
        assert "missing program: git" in call.err
    assert "hint: git: apt-get install git" in bench("run", "suite.toml").err
    # Who names no commit is measured all the same; what is not known is told.
    (tmp_path / "suite.toml").write_text(suite().replace('ref = "v1"\n', ""))
    call = bench("run", "--details", "suite.toml", "-o", "out", *SHORT)
    assert "after: working tree, commit unknown: git is missing" in call.out, call.all
    assert [item.commit for item in read_header(only_result(tmp_path / "out")).code] == [None, None]


def test_check_and_plan_start_nothing_and_say_what_they_know(bench: Bench, tmp_path: Path) -> None:
    repository(tmp_path)
    (tmp_path / "suite.toml").write_text(suite("v2"))
    call = bench("check", "suite.toml", code=0)
    assert "servers.before: whether v2 is a commit of its repository" in call.out
    assert "needs git" in call.out
    assert "before (command, ref v2)" in bench("plan", "suite.toml").out
    plan = json.loads(bench("plan", "suite.toml", "--format", "json").out)
    starts = [item["starts"][0] for item in plan["scenarios"][0]["chains"]]
    assert [start["ref"] for start in starts] == ["v2", None]


def test_a_case_is_the_commit_whatever_leads_to_it(tmp_path: Path) -> None:
    first, second = repository(tmp_path)
    path = tmp_path / "suite.toml"

    def digests(ref: str) -> tuple[str, str]:
        path.write_text(suite(ref))
        earlier, later = expand(with_code(load(path, Registry()), LocalHost()))
        return earlier.name.digest, later.name.digest

    old, new = digests("v1"), digests("main")
    assert digests(first) == digests("HEAD~1") == old
    assert digests(second) == digests("HEAD") == new
    assert old[0] != new[0]
    assert old[1] == new[1], "what lies there is the same"
    assert new[0] != new[1]


@pytest.mark.exhaustive
def test_refs_that_vary(bench: Bench, tmp_path: Path) -> None:
    first, second = repository(tmp_path)
    more = '[scenarios.t]\nservers = ["before"]\nloaders = ["pace"]\n'
    more += 'vary = { "servers.before.ref" = ["v1", "main"] }\n'
    (tmp_path / "suite.toml").write_text(suite(more=more))
    bench("run", "suite.toml", "--only", "t", "-o", "out")
    folder = only_result(tmp_path / "out")
    assert answers(folder) == {"before": {"fast", "slow"}}
    assert [item.commit for item in read_header(folder).code] == [first, second]


def test_a_run_goes_on_with_the_same_commit_only(bench: Bench, tmp_path: Path) -> None:
    repository(tmp_path)
    (tmp_path / "suite.toml").write_text(suite("main"))
    call = bench("run", "suite.toml", "-o", "out", "--time-limit", "100ms")
    assert "not measured" in call.err, call.all
    folder = only_result(tmp_path / "out")
    commit(tmp_path, SLOW_TOO, "slow too")
    call = bench("run", "--resume", folder, code=2)
    assert "its code or data changed since it was begun" in call.err
    git(tmp_path, "reset", "--quiet", "--hard", "HEAD~1")
    call = bench("run", "--resume", folder)
    assert answers(folder) == {"before": {"slow"}, "after": {"slow"}}, call.all


def test_submodules_are_said(tmp_path: Path) -> None:
    repository(tmp_path / "inner")
    first, _ = repository(tmp_path / "outer")
    linked = f"160000,{first},vendor/it"
    git(tmp_path / "outer", "update-index", "--add", "--cacheinfo", linked)
    git(tmp_path / "outer", "commit", "--quiet", "--message", "a link")
    path = tmp_path / "outer/suite.toml"
    path.write_text(suite("HEAD"))
    first_, _ = with_code(load(path, Registry()), LocalHost()).code
    assert first_.submodules == ("vendor/it",)
    assert first_.in_words.endswith("without its submodules vendor/it")


def test_a_renamed_file_is_one_change(tmp_path: Path) -> None:
    repository(tmp_path)
    git(tmp_path, "mv", "app/answer.py", "app/renamed.py")
    with LocalHost().trial(tmp_path / "trial", "host") as sandbox:
        items = list(Git(present(locate("git")), tmp_path, sandbox, tmp_path / "git").changed())
    assert ("app/renamed.py", True) in items
    assert not any("answer.py" in path for path, _ in items)


def test_no_filter_of_the_repository_itself_runs(tmp_path: Path) -> None:
    repository(tmp_path)
    ran = tmp_path / "ran"
    for key in ("clean", "smudge", "process"):
        git(tmp_path, "config", f"filter.a=b.{key}", f"touch {ran}; cat")
    git(tmp_path, "config", "filter.a=b.required", "true")
    (tmp_path / ".git/info").mkdir(exist_ok=True)
    (tmp_path / ".git/info/attributes").write_text("* filter=a=b\n")
    (tmp_path / "app/answer.py").write_text("changed = 1\n")
    with LocalHost().trial(tmp_path / "trial", "host") as sandbox:
        request = Git(present(locate("git")), tmp_path, sandbox, tmp_path / "git")
        assert ("app/answer.py", True) in list(request.changed())
        request.check_out("HEAD", tmp_path / "out")
    assert (tmp_path / "out/app/answer.py").is_file()
    assert not ran.exists()


def test_served_for_a_person(bench: Bench, tmp_path: Path) -> None:
    repository(tmp_path)
    (tmp_path / "suite.toml").write_text(suite("nowhere").replace('"nowhere"', '"v1"', 1))
    (tmp_path / "app/serve.py").write_text("raise SystemExit(3)\n")  # of the working tree
    words, pipe = bench_words("serve", "suite.toml", "before"), subprocess.PIPE
    with subprocess.Popen(words, cwd=tmp_path, stdout=pipe, stderr=pipe, text=True) as serving:
        try:
            lines = [present(serving.stdout).readline() for _ in range(2)]
            assert lines[1] == "GET /: 200, 4 bytes\n", lines
            serving.send_signal(signal.SIGINT)
            _, err = serving.communicate(timeout=WAITS_S)
        finally:
            serving.kill()
    assert serving.returncode == 0, err
    assert "servers.before: v1 at " in err


def test_what_of_a_path_is_of_the_commit(tmp_path: Path) -> None:
    top, checkout = tmp_path.resolve() / "top", tmp_path / "checkout"
    (top / "env/bin").mkdir(parents=True)
    (top / "app").mkdir()
    (top / "env/pyvenv.cfg").touch()
    (python := top / "env/bin/python").symlink_to(sys.executable)
    (outside := tmp_path / "python").symlink_to(sys.executable)
    (link := tmp_path / "link").symlink_to(top)
    tree = Tree(top, checkout)
    assert tree.at(python) == python, "an environment is of no commit, and its link is its name"
    assert tree.at(outside) == outside
    assert tree.at(link / "app/x") == checkout / "app/x"
    assert tree.at(top / "app/..") == tree.at(top) == checkout
    assert tree.at(top / "gone/x") == checkout / "gone/x"


def test_what_is_not_known_says_why() -> None:
    for fields in ({"commit": "1", "changed_files": 0, "why": "it is"}, {"commit": "1"}, {}):
        with pytest.raises(ValueError, match="has a reason"):
            Code.model_validate({"server": "a", "repository": "/", **fields})
