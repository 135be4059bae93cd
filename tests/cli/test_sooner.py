"""The command at the end of a run that decides open ratios sooner, and where there is none."""

import json
import shlex
from pathlib import Path

import pytest
from front_door import answering, bench_words, calls
from measured.on_disk import cut_off
from suite_texts.files import suite_text

from benchforge.checks.summary import concluded
from benchforge.cli.measure.run.session import in_turns
from benchforge.model.files.folder import read_header, read_trials
from benchforge.parts.registry import Registry
from benchforge.suite.load import load

# Each start draws its own 2 to 8 ms for an answer: three blocks decide nothing.
DRAWS = """'sh', '-c', 'exec "$@" --wait 0.00$((2 + 1$(date +%N) % 7))', 'sh', """
UNSTEADY = answering().replace("[", f"[{DRAWS}", 1)
SUITE = suite_text("cli/sooner", unsteady=UNSTEADY)
SAYS = "to decide hello sooner: "


@pytest.fixture(scope="module")
def undecided(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return a result that decides nothing between two servers, and what was printed.

    By chance they differ in one of twenty runs.
    """
    folder = tmp_path_factory.mktemp("undecided")
    (folder / "alike.toml").write_text(SUITE)
    printed = ""
    for number in range(4):
        printed = calls(bench_words(), folder)("run", "alike.toml", "-o", f"results{number}").all
        if SAYS in printed and "scenarios.hello.blocks=" in printed:
            (made,) = (folder / f"results{number}").iterdir()
            return made, printed
    raise AssertionError(printed)


def test_the_printed_command_measures_in_turns(undecided: tuple[Path, str]) -> None:
    made, printed = undecided
    (line,) = (line for line in printed.splitlines() if line.startswith(SAYS))
    words = shlex.split(line.removeprefix(SAYS))
    assert words[:2] == ["benchforge", "run"]
    folder = made.parents[1]
    actual = calls(bench_words(), folder)(*words[1:], "--set", "repeat.each=200ms", "-o", "sooner")
    (sooner,) = (folder / "sooner").iterdir()
    header = json.loads((sooner / "result.json").read_text())
    assert header["settings"]["scenarios.hello.interleave"] == "100ms", actual.all
    assert header["only"] == ["hello"]


def test_the_command_for_more_blocks_repeats_the_options(undecided: tuple[Path, str]) -> None:
    made, printed = undecided
    _, _, below = printed.partition("\nNext  ")
    words = next(line for line in below.splitlines() if line.startswith("  benchforge "))
    again = shlex.split(words)
    assert again[:3] == ["benchforge", "run", "alike.toml"], printed
    planned = calls(bench_words(), made.parents[1])("plan", *again[2:])
    blocks = next(item for item in again if item.startswith("scenarios.hello.blocks="))
    assert f" {blocks.partition('=')[2]} blocks: " in planned.out, planned.all


def test_answers_are_shown_after_a_block_that_only_some_scenarios_have(tmp_path: Path) -> None:
    bench = calls(bench_words(), tmp_path)
    two = '[scenarios.longer]\nrequest = { path = "/" }\nservers = ["one", "two"]\nblocks = 5\n'
    (tmp_path / "some.toml").write_text(f'{SUITE}{two}loaders = ["closed"]\n')
    result = bench("run", "some.toml", "--set", "loaders.closed.duration=0.2s").result
    # A look may be left out if the one before took long: the first of a session never is.
    cut_off(result, 12)
    call = bench("run", "--resume", result)
    assert "after 4 of 5 rounds, of 2 questions: " in call.err, call.err


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('quiet = "off"', 'quiet = "off", interleave = "off"'),
        ("connections = 8", 'connections = 8, rate = "50/s"'),
        ('loaders = ["closed"]', 'loaders = ["closed"], interleave = "off"'),
    ],
)
def test_no_turns_possible(undecided: tuple[Path, str], tmp_path: Path, old: str, new: str) -> None:
    registry, (made, _) = Registry(), undecided
    header, trials = read_header(made), read_trials(made)
    path = tmp_path / "alike.toml"

    def command(text: str) -> str:
        path.write_text(text)
        suite = load(path, registry)
        return in_turns(concluded(header, trials, suite.metrics), header, trials, suite, registry)

    assert command(SUITE).startswith(SAYS)
    assert command(SUITE.replace(old, new)) == ""
