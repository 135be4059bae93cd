"""`benchforge gate`: a working tree beside a base commit, in real git repositories."""

import json
import re
import shlex
import shutil
import tomllib
from pathlib import Path

import pytest
from documents.pages import ROOT
from front_door import Bench, Told
from made import plain
from pydantic import JsonValue
from repository import COMMAND, FAST, commit, git, repository
from suite_texts.files import suite_text

from benchforge.cli.measure.gate.command import command
from benchforge.cli.measure.gate.outcome import heads
from benchforge.model.files.folder import read_header
from benchforge.model.summary.summary import CaseSummary

SUITE = suite_text("cli/measure/gate", command=COMMAND)
LATE = 'import time\n\n\ndef body():\n    time.sleep(0.005)\n    return b"fast"\n'
SHORT = ("--time", "3s")


def made(folder: Path, more: str = "") -> Path:
    """Return a repository whose last commit is slow and whose first one, v1, is fast."""
    repository(folder / "repository")
    (folder / "repository/suite.toml").write_text(SUITE + more)
    return folder / "repository"


def gate(bench: Bench, *words: str | Path, base: str = "v1", seconds: float = 3) -> Told:
    return bench("gate", "repository/suite.toml", "--base", base, "--time", f"{seconds}s", *words)


def state(expected: Told) -> dict[str, object]:
    document: dict[str, object] = json.loads(expected.out)
    return document


def state_of(folder: Path) -> tuple[str, ...]:
    """Return what a gate leaves as it is; the server itself may write files that git ignores."""
    status = git(folder, "status", "--porcelain", "--untracked-files=no")
    refs, worktrees = git(folder, "for-each-ref"), git(folder, "worktree", "list")
    index = (folder / ".git/index").read_bytes().hex()
    return status, refs, worktrees, git(folder, "stash", "list"), index


def decides(bench: Bench, state_: str, *words: str, base: str = "v1", seconds: float = 16) -> Told:
    """Gate for longer and longer, until there is the verdict: a loud machine leaves few blocks.

    Beside other tests eight seconds decide nothing; a gate that has decided ends early.
    """
    while True:
        actual = gate(bench, "--json", *words, base=base, seconds=seconds)
        assert actual.out, actual.all
        if state(actual)["state"] == state_:
            assert actual.code == state(actual)["exit_code"], actual.all
            return actual
        assert seconds <= 120, actual.all
        seconds *= 2


def test_a_slower_commit_fails_and_every_file_says_so(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(tmp_path)
    commit(folder, LATE, "late")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "step.md"))
    first = state_of(folder)
    files = ["--comment", "c/comment.md", "--junit", "junit.xml", "--badge", "badge.json"]
    decision = decides(bench, "slower", *files)
    outcome = json.loads(decision.out)
    assert outcome["exit_code"] == 1
    (row,) = outcome["verdicts"]
    assert row["high"] < 1
    assert row["in_turns"]
    assert (row["scenario"], row["server"]) == ("s", "app")
    assert "no lock file (uv.lock, poetry.lock, " not in decision.err  # a command has no packages
    assert "a command: both commits run on what it starts" in decision.err
    assert "to continue:" not in decision.err
    assert "**FAILED: " in (tmp_path / "c/comment.md").read_text()
    assert (tmp_path / "c/comment.md").read_text() in (tmp_path / "step.md").read_text()
    assert 'failures="1"' in (tmp_path / "junit.xml").read_text()
    assert json.loads((tmp_path / "badge.json").read_text())["message"] == "slower"
    assert state_of(folder) == first
    header = read_header(Path(tmp_path / outcome["result"]))
    assert [claim.label for claim in header.claims] == ["s-app"]  # the suite's own are left out
    assert bench("validate", outcome["result"]).code == 0


def test_servers_that_are_too_slow_for_turns_are_measured_without(
    bench: Bench, tmp_path: Path
) -> None:
    made(tmp_path)
    actual = gate(bench, "--json", seconds=8)
    assert actual.code in {1, 4}, actual.all
    assert "s: measured without turns: their servers are too slow to take turns" in actual.err
    (row,) = json.loads(actual.out)["verdicts"]
    assert not row["in_turns"]


def test_the_throughput_at_a_fixed_rate_is_no_verdict(bench: Bench, tmp_path: Path) -> None:
    folder = made(tmp_path)
    (folder / "suite.toml").write_text(SUITE.replace("connections = 2", 'rate = "20/s"'))
    decision = decides(bench, "invalid", seconds=8)
    (row,) = json.loads(decision.out)["verdicts"]
    assert "the load has a fixed rate, so its throughput says nothing" in row["why"]


def test_a_gate_passes_a_faster_commit_beside_a_dirty_tree(bench: Bench, tmp_path: Path) -> None:
    (made(tmp_path) / "app/answer.py").write_text(FAST + "# changed\n")
    decision = decides(bench, "not slower", "--limit", "50%", "--badge", "badge.svg")
    assert " changed" in str(state(decision)["head"])
    assert "servers are too slow to take turns" not in decision.err
    assert "not slower by 50 %" in (tmp_path / "badge.svg").read_text()
    assert (tmp_path / "badge.svg").read_text().startswith("<svg ")


def test_too_little_time_is_undecided_and_a_waiver_passes_it(bench: Bench, tmp_path: Path) -> None:
    waiver = '[gate]\nallow = [{ scenario = "s", reason = "a|b", until = 2999-01-01 }]\n'
    folder = made(tmp_path)
    actual = gate(bench, seconds=2)
    assert actual.code == 4, actual.all
    assert actual.out.startswith("UNDECIDED: [s] ")
    assert re.search(r"^  \[s\] .* undecided$", actual.out, re.MULTILINE), actual.out
    (folder / "suite.toml").write_text(SUITE + waiver)
    waived = gate(bench, "--comment", "comment.md", seconds=2)
    assert waived.code == 0, waived.all
    assert "(waived: a|b, until 2999-01-01)" in waived.out
    assert r"waived: a\|b" in (tmp_path / "comment.md").read_text()
    (folder / "suite.toml").write_text(SUITE + waiver.replace("2999", "2001"))
    expired = gate(bench, seconds=2)
    assert expired.code == 4, expired.all
    assert "(its waiver ended on 2001-01-01)" in expired.out


def test_a_server_that_does_not_start_at_the_base_is_said_first_and_fails_nobody(
    bench: Bench, tmp_path: Path
) -> None:
    folder = made(tmp_path)
    git(folder, "checkout", "--quiet", "-b", "broken")
    commit(folder, "raise SystemExit(3)\n", "broken")
    (folder / "app/answer.py").write_text(FAST)
    actual = gate(bench, base="broken")
    assert actual.code == 0, actual.all
    assert actual.out.startswith("PASSED: [s] answers rightly, and its base does not")
    assert "app_before: ended with exit code 3 before it was" in actual.out


def test_nothing_is_measured_of_the_same_code(bench: Bench, tmp_path: Path) -> None:
    folder = made(tmp_path)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "suite")
    actual = gate(bench, "--json", base="HEAD")
    assert (actual.code, state(actual)["same"]) == (0, True), actual.all
    assert not (tmp_path / "results").exists()


def test_the_code_of_an_older_result_is_a_base_with_the_options_that_it_had(
    bench: Bench, tmp_path: Path
) -> None:
    folder = made(tmp_path)
    git(folder, "checkout", "--quiet", "v1")
    text = SUITE.replace("connections = 2", 'connections = 2\nduration = "300ms"')
    older = text.replace("\n[loaders", "environment = { LEVEL = '1' }\n[loaders", 1)
    (folder / "suite.toml").write_text(older)
    result = bench("run", "repository/suite.toml", "--set", "repeat.blocks=1").result
    same = gate(bench, "--json", base=str(result))
    assert (same.code, state(same)["same"]) == (0, True), same.all
    text = text.replace("[scenarios", f"[servers.new]{COMMAND}[scenarios")
    (folder / "suite.toml").write_text(text.replace('["app"]', '["app", "new"]'))
    commit(folder, LATE, "late")
    outcome = decides(bench, "slower", base=str(result))
    code = read_header(result).code[0]
    assert state(outcome)["base"] == f"{result} at {str(code.commit)[:7]}"
    assert f"not compared: servers.new: {result} has no such server" in outcome.err
    header = read_header(tmp_path / str(state(outcome)["result"]))
    servers = tomllib.loads(header.suite)["servers"]
    base = {**servers["app"], "environment": {"LEVEL": "1"}, "ref": code.commit}
    assert servers["app_before"] == base
    changed = json.loads((result / "result.json").read_text())
    changed["code"][0]["changed_files"] = 1
    (result / "result.json").write_text(json.dumps(changed))
    refused = gate(bench, base=str(result))
    assert refused.code == 2
    assert "nothing can be measured again: servers.app: it was the working tree at" in refused.err


def test_a_new_server_and_others_are_named_and_not_compared(bench: Bench, tmp_path: Path) -> None:
    folder = made(tmp_path, '[servers.hello]\nuse = "waitress"\napp = "hello_wsgi"\n')
    (folder / "new").mkdir()
    text = (folder / "suite.toml").read_text()
    text = text.replace('servers = ["app"]', 'servers = ["app", "hello"]')
    (folder / "suite.toml").write_text(text.replace('directory = "app"', 'directory = "new"'))
    actual = gate(bench)
    assert actual.code == 4, actual.all
    assert actual.out.startswith("UNDECIDED: ")
    assert "not compared: servers.app: it is new: new is not there at the base" in actual.err
    assert "not compared: servers.hello: it serves no code of yours" in actual.err


def test_a_base_or_results_that_are_not_there_have_hints_that_work(
    bench: Bench, tmp_path: Path
) -> None:
    origin = made(tmp_path)
    (origin / "results").mkdir()
    words = ("gate", origin / "suite.toml", *SHORT)
    empty = bench(*words, "--against", origin / "results", "--reference", "app")
    assert (empty.code, list(tmp_path.glob("**/result.json"))) == (2, [])
    assert "results: no result in it" in empty.err
    assert "five times or more: benchforge run " in empty.err
    shutil.rmtree(origin / ".git")
    assert "not a git repository" in bench(*words, "--base", "main", code=2).err
    git(origin, "init", "--quiet")
    first = bench(*words, "--base", "HEAD")
    assert "hint: the repository has no commit yet" in first.err, first.all
    assert first.code == 2


def test_a_shallow_clone_says_what_fetches_the_base(bench: Bench, tmp_path: Path) -> None:
    origin = made(tmp_path)
    git(origin, "add", "--all")
    git(origin, "commit", "--quiet", "--message", "suite")
    git(origin, "branch", "base/it's", "v1")
    url = f"file://{origin}"
    git(tmp_path, "clone", "--quiet", "--depth=1", "--branch=main", url, str(tmp_path / "clone"))
    clone = tmp_path / "clone"
    words = ("gate", "clone/suite.toml", *SHORT)
    actual = bench(*words, "--base", "origin/base/it's", code=2)
    assert "no such commit in " in actual.err
    assert "a shallow clone" in actual.err
    fetch = actual.err.partition("fetch it: git ")[2].partition("; ")[0]
    run(clone, fetch)
    assert bench(*words, "--base", "origin/base/it's").code in {0, 1, 4}
    # From here on nothing is measured: the base is there as soon as a folder of it is looked for.
    (clone / "new").mkdir()
    (clone / "suite.toml").write_text(SUITE.replace('directory = "app"', 'directory = "new"'))
    by_name = bench(*words, "--base", "base/it's")
    fetch, _, rest = by_name.err.partition("fetch it: git ")[2].partition(", then ")
    run(clone, fetch)
    fetched = bench(*words, *rest.split(), code=4)
    assert "it is new: new is not there at the base" in fetched.err


def test_a_clone_of_a_fork_says_what_fetches_the_base(bench: Bench, tmp_path: Path) -> None:
    """The fork has one branch alone; nothing is measured, since the base has no folder `new`."""
    upstream = made(tmp_path)
    git(upstream, "checkout", "--quiet", "-b", "feature")
    commit(upstream, LATE, "late")
    fork, clone = tmp_path / "fork", tmp_path / "clone"
    url = f"file://{upstream}"
    git(tmp_path, "clone", "--quiet", "--single-branch", "--branch=feature", url, str(fork))
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{fork}", str(clone))
    (clone / "new").mkdir()
    (clone / "suite.toml").write_text(SUITE.replace('directory = "app"', 'directory = "new"'))
    words = ("gate", "clone/suite.toml", *SHORT, "--base")

    def hint(base: str, says: str) -> str:
        run = bench(*words, base)
        assert (run.code, run.err.count("error: ")) == (2, 1), run.all
        assert says in run.err
        return run.err.partition("hint: ")[2]

    assert "such as origin/main" in hint("", "--base: empty")
    assert "such as --base origin/main" in hint("0" * 40, "new branch has none")
    base = git(upstream, "rev-parse", "v1^{commit}")
    assert "git fetch --unshallow" in hint(base[:7], "a shallow clone")
    assert "no remote is called upstream" in hint("upstream/main", "a shallow clone")
    of_fork = hint("origin/main", "a shallow clone").partition("if origin is a fork")[2]
    elsewhere = of_fork.partition(": git ")[2].partition(", then --base FETCH_HEAD")[0]
    run(clone, elsewhere.replace("URL", url))
    fetched = bench(*words, "FETCH_HEAD", "--details", code=4)
    assert "it is new: new is not there at the base" in fetched.out
    assert "lacks commits of " not in fetched.out, "main is the parent that HEAD names"
    run(clone, hint(base, "a shallow clone").partition("fetch it: git ")[2].partition("; ")[0])
    unknown = bench(*words, base, "--details")
    assert f"lacks commits of {base}: the clone is shallow" in unknown.out


def run(folder: Path, words: str) -> None:
    git(folder, *shlex.split(words))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--base", "nothing"], "no such commit in "),
        (["--base", "--upload-pack=x"], "no such commit in "),
        (["--base", "$(touch x)\n;"], "no such commit in "),
        (["--base", "v1", "--only", "x"], "no such scenario"),
    ],
)
def test_what_cannot_be_a_gate_is_an_error_with_a_hint(
    bench: Bench, tmp_path: Path, words: list[str], says: str
) -> None:
    made(tmp_path)
    run = bench("gate", "repository/suite.toml", *words, code=2)
    assert says in run.err
    assert "hint: " in run.err
    assert not (tmp_path / "results").exists()


def test_older_results_predict_a_new_one(bench: Bench, tmp_path: Path) -> None:
    folder = made(tmp_path)
    stable = f"[servers.stable]{COMMAND}"
    text = SUITE.replace('servers = ["app"]', 'servers = ["app", "stable"]') + stable
    text = text.replace("connections = 2", 'connections = 2\nduration = "300ms"')
    (folder / "suite.toml").write_text(text + "[profiles.few]\nrepeat.blocks = 1\n")
    suite = "repository/suite.toml"
    assert bench("run", suite, "--profile", "few", "-o", "old").code in {0, 4}
    words = ["--against", "old", "--reference", "stable", "--profile", "few", "--json"]
    run = bench("gate", suite, *words, code=4)
    (row,) = json.loads(run.out)["verdicts"]
    assert row["state"] in {"undecided", "invalid"}


def test_the_action_takes_options_of_the_command_and_pastes_no_value_into_a_shell() -> None:
    action = (ROOT / "action.yml").read_text()
    options = {word for parameter in command.params for word in parameter.opts}
    assert {*re.findall(r"--[a-z]+(?==\$|\s)", action.partition(" gate ")[2])} <= options
    assert not [line for line in action.splitlines() if "${{" in line and "run:" in line]
    in_shell = re.findall(r"run: [|>]-?\n((?: {8,}.*\n)+)", action)
    assert len(in_shell) == 4
    assert not [text for text in in_shell if "${{" in text]
    assert all(re.match(r"[\w/-]+@[0-9a-f]{40} # v", use) for use in action.split("uses: ")[1:])


def test_what_installs_uv_has_the_hashes_of_the_lock_file() -> None:
    locked = tomllib.loads((ROOT / "uv.lock").read_text())["package"]
    (uv,) = [package for package in locked if package["name"] == "uv"]
    written = (ROOT / "scripts/uv.txt").read_text()
    assert f"uv=={uv['version']} " in written
    assert re.findall(r"--hash=(\S+)", written) == [wheel["hash"] for wheel in uv["wheels"]]
    for name in ("action.yml", "Containerfile", "scripts/setup.sh"):
        text = (ROOT / name).read_text()
        assert "scripts/uv.txt" in text
        assert "--require-hashes" in text


@pytest.mark.network
def test_each_commit_has_the_packages_of_its_own_lock(bench: Bench, tmp_path: Path) -> None:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    suite = SUITE.replace(COMMAND, '\nuse = "waitress"\napp = "served:app"\ndirectory = "."\n')
    (folder / "suite.toml").write_text(suite)
    (folder / "served.py").write_text(
        "from importlib.metadata import version\n\n\n"
        "def app(environ, start_response):\n"
        '    start_response("200 OK", [("Content-Type", "text/plain")])\n'
        '    return [version("waitress").encode()]\n'
    )
    (folder / "requirements.txt").write_text("waitress==3.0.1\n")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "base")
    (folder / "requirements.txt").write_text("waitress==3.0.2\n")
    actual = gate(bench, "--json", base="HEAD")
    assert actual.code in {0, 1, 4}, actual.all
    assert "servers.app: 1 package of requirements.txt; others at the base" in actual.err
    result = tmp_path / str(state(actual)["result"])
    answers = {
        json.loads((file.parent / "trial.json").read_text())["case"]["server"]: file.read_text()
        for file in result.glob("trials/*/answer.bin")
    }
    assert answers == {"app": "3.0.2", "app_before": "3.0.1"}


def test_each_point_of_a_server_has_its_own_base() -> None:
    def named(server: str, threads: int) -> CaseSummary:
        vary: dict[str, JsonValue] = {f"servers.{server}.threads": threads}
        return plain.case(plain.named(server, vary=vary))

    cases = [named(server, threads) for threads in (1, 8) for server in ("app", "app_before")]
    lone = plain.case(plain.named("other"))
    assert [*heads([*cases, lone])] == [(cases[0], cases[1]), (cases[2], cases[3])]
    assert [*heads([cases[0], cases[3]])] == [(cases[0], None)]
