"""`benchforge rebaseline`: the older code stands again beside the newer one, by its commit."""

import json
import tomllib
from pathlib import Path

import pytest
from benchforge_commands.rebaseline.changes import changed
from benchforge_commands.rebaseline.command import rebaseline
from benchforge_commands.rebaseline.suite import RebaselinedServer, cannot, rebaselined, text
from front_door import needed
from hypothesis import given
from hypothesis import strategies as st
from made import summaries
from repository import COMMAND, FAST, LOAD, SLOW, commit, git, repository

from benchforge.cli.measure.inputs import RunOptions
from benchforge.cli.measure.outcome import FAILS
from benchforge.cli.measure.run import begin
from benchforge.errors import Unusable
from benchforge.model.files.folder import read_header
from benchforge.registry import Registry
from benchforge.run.execute import StopLimits

SERVING = LOAD.replace('"before", "after"', '"app"')
SUITE = f"benchforge = 1\n[servers.app]{COMMAND}{SERVING}blocks = 3\n"


def measured(folder: Path, output: str) -> Path:
    """Measure a trial of the suite of a folder as it is, and return where the result is.

    What is measured again follows from the header, which is there with the first trial.
    """
    kept: list[Path] = []
    options = RunOptions(Registry(), limits=StopLimits(time_limit_s=2.5))
    begin(folder / "suite.toml", folder / output, options, kept=kept.append)
    assert list(kept[0].glob("trials/*/trial.json"))
    return kept[0]


def again(older: Path, newer: Path, output: Path) -> int:
    return rebaseline(older, newer, output, Registry())


@pytest.fixture
def fast(tmp_path: Path) -> Path:
    """A result of a fast server, whose commit is known."""
    needed("git")
    repository(tmp_path)
    commit(tmp_path, FAST, "fast again")
    (tmp_path / "suite.toml").write_text(SUITE)
    return measured(tmp_path, "old")


def test_a_slowdown_between_two_commits(
    fast: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commit(tmp_path, SLOW, "slow")
    slow = measured(tmp_path, "new")
    attempt = 0
    while True:  # a neighbour that stops one of three blocks makes intervals wide
        attempt += 1
        capsys.readouterr()
        if again(fast, slow, tmp_path / f"again-{attempt}") == FAILS or attempt == 5:
            break
    told = capsys.readouterr()
    assert "s · app · pace: throughput: worse: 0." in told.out
    assert "times as before (95 % interval 0." in told.out
    assert "3 blocks)" in told.out
    suite = tomllib.loads((tmp_path / "suite-before.toml").read_text())
    old = read_header(fast).code[0].commit
    assert suite["servers"]["app_before"]["ref"] == old
    (folder,) = (tmp_path / f"again-{attempt}").iterdir()
    assert [one.commit for one in read_header(folder).code] == [
        read_header(slow).code[0].commit,
        old,
    ]
    # Ours is written anew, another's is not.
    file = tmp_path / "suite-before.toml"
    file.write_text("benchforge = 1\n")
    with pytest.raises(Unusable, match="exists, and was not written by benchforge"):
        again(fast, slow, tmp_path / "again")
    assert file.read_text() == "benchforge = 1\n"


def test_what_cannot_be_rebuilt_is_told_and_a_suite_that_changed_is_refused(
    fast: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "suite.toml").write_text(SUITE + "\n[servers.other]" + COMMAND)
    with pytest.raises(Unusable, match="changed since"):
        again(fast, fast, tmp_path / "again")
    (tmp_path / "suite.toml").write_text(SUITE)
    (tmp_path / "app/answer.py").write_text(SLOW)
    dirty = measured(tmp_path, "dirty")
    with pytest.raises(Unusable, match="nothing can be measured once more"):
        again(dirty, fast, tmp_path / "again")
    told = capsys.readouterr().err
    assert "servers.app: not measured again: it was the working tree at " in told
    assert " with 1 changed file" in told
    assert not (tmp_path / "suite-before.toml").exists()
    git(tmp_path, "checkout", "--quiet", "--", "app")
    header = fast / "result.json"
    told_then = json.loads(header.read_text())
    header.write_text(json.dumps({**told_then, "code": []}))
    with pytest.raises(Unusable, match="nothing can be measured once more"):
        again(fast, dirty, tmp_path / "again")
    assert "servers.app: not measured again: no commit was recorded" in capsys.readouterr().err


TABLES = tomllib.loads(
    """
benchforge = 1
title = "it's \\"a\\" title"
servers.other = { use = "url", url = "http://127.0.0.1" }
loaders.pace = { use = "pace" }
scenarios.t = { servers = ["other"], loaders = ["pace"] }
tables.x = { rows = "server" }
repeat = { blocks = 2 }
[servers.app]
use = "command"
command = ["x", "{port}"]
directory = "new"
environment = { "A.B" = "c" }
[scenarios.s]
servers = ["other", "app"]
loaders = ["pace"]
request = { path = "/{n}" }
requests.app = { path = "/app" }
vary = { "servers.app.environment" = [{ A = "1" }], "path.n" = [1, 2.5] }
"""
)
OLD = RebaselinedServer({"use": "command", "command": ["y"], "directory": "old"}, "1" * 40)


def test_the_suite_that_is_written() -> None:
    assert cannot(TABLES, "app", OLD) == ""
    told = tomllib.loads(text(rebaselined(TABLES, "x-before", {"app": OLD})))
    assert told["servers"]["app_before"] == {
        "use": "command",
        "command": ["y"],
        "directory": "new",
        "ref": "1" * 40,
    }
    scenario = told["scenarios"]["s"]
    assert scenario["servers"] == ["other", "app", "app_before"]
    assert scenario["requests"]["app_before"] == {"path": "/app"}
    assert scenario["vary"]["servers.app_before.environment"] == [{"A": "1"}]
    assert told["scenarios"]["t"] == TABLES["scenarios"]["t"]
    assert "tables" not in told
    for key in ("title", "repeat", "loaders"):
        assert told[key] == TABLES[key]


def test_which_servers_cannot() -> None:
    assert "no scenario" in cannot(TABLES, "gone", OLD)
    assert "does not declare" in cannot(TABLES, "app", None)
    both = {**TABLES, "servers": {**TABLES["servers"], "app_before": {}}}
    assert "already" in cannot(both, "app", OLD)
    pointed = {"servers": ["app"], "include": [{"servers.app.workers": 2}]}
    points = {**TABLES, "scenarios": {"s": pointed}}
    assert "includes or excludes" in cannot(points, "app", OLD)


_VALUES = st.recursive(
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.text(),
        _VALUES | st.dictionaries(st.from_regex(r"[a-z-]+", fullmatch=True), _VALUES, max_size=3),
        max_size=3,
    )
)
def test_what_is_written_is_what_was_meant(tables: dict[str, object]) -> None:
    assert tomllib.loads(text(tables)) == tables  # type: ignore[arg-type]


def test_nobody_is_compared_where_nothing_older_is_named() -> None:
    summary = summaries.summary(summaries.case("app", [100.0, 110.0, 105.0]))
    assert list(changed(summary, lambda _: None)) == []
    (same,) = changed(summary, lambda case: case)
    assert same.change.state == "no model", "a ratio of 1 in each block has no spread"
    assert same.blocks == 3
