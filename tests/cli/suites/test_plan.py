"""`benchforge plan`: what a run would measure, shown without starting anything."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from front_door import Bench, captured
from suite_texts.files import suite_text
from suite_texts.with_pace import suite as two_servers

from benchforge.cli.suites.plan.planned import Plan
from benchforge.model.files.result import Header
from benchforge.model.summary.summary import Summary
from benchforge.run.locate import locate

SUITE = suite_text("cli/suites/plan")
TEXT = Path(__file__).with_name("plan.txt").read_text()


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = tmp_path / "suite.toml"
    path.write_text(SUITE)
    return path


def test_the_text_needs_no_program_and_says_how_long_what_runs_and_in_which_order(
    bench: Bench, suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    call = bench("plan", suite, "--seed", "7")
    assert (call.code, call.err, call.out) == (0, "", TEXT)
    assert [file.name for file in suite.parent.iterdir()] == ["suite.toml"]


def read(text: str) -> Plan:
    return Plan.model_validate_json(text)


def test_json_holds_everything_and_adds_up(bench: Bench, suite: Path) -> None:
    plan = read(bench("plan", suite, "--seed", "7", "--format", "json").out)
    assert [case.case.scenario for case in plan.cases] == ["hello"] * 6 + ["second"]
    assert len({case.case.digest for case in plan.cases}) == 7
    assert [block.block for block in plan.order] == [1, 2]
    for block in plan.order:
        assert sorted(block.cases) == list(range(7))
        assert len(block.seeds) == 7
    assert (plan.seed, plan.seed_drawn, plan.blocks, plan.trials) == (7, False, 2, 14)
    assert plan.estimate.warm_up_s == 14
    assert plan.estimate.load_s == 2 * sum(case.load_s for case in plan.cases)
    assert plan.estimate.start_and_stop_s == 14 * 1.5
    assert plan.estimate.total_s == sum(scenario.estimate.total_s for scenario in plan.scenarios)
    assert plan.scenarios[0].varies["servers.front.upstream"] == ("app", "other")


def test_a_run_measures_what_was_planned(bench: Bench, tmp_path: Path) -> None:
    levels = 'scenarios.ping.vary."loaders.pace.connections"=[1, 2]'
    words = (two_servers(tmp_path, blocks=2), "--set", levels)
    plan = read(bench("plan", *words, "--format", "json").out)
    assert plan.seed_drawn
    call = bench("run", *words, "--set", f"repeat.seed={plan.seed}", code=0)
    assert f"seed {plan.seed};" in call.err
    folder = call.result
    header = Header.model_validate_json((folder / "result.json").read_text())
    in_order = [plan.cases[number].case for block in plan.order for number in block.cases]
    assert list(header.cases) == [case.case for case in plan.cases]
    assert [item.case for item in header.plan] == in_order
    seeds = [seed for block in plan.order for seed in block.seeds]
    assert [item.seed for item in header.plan] == seeds
    trials = [json.loads((folder / f"trials/{n:04}/trial.json").read_text()) for n in range(1, 9)]
    assert [trial["case"] for trial in trials] == [it.model_dump(mode="json") for it in in_order]
    summary = Summary.model_validate_json((folder / "summary.json").read_text())
    compared = [[case.server for case in comparison.cases] for comparison in summary.comparisons]
    assert compared == [["one", "two"], ["one", "two"]]


def test_the_seed_is_given_or_the_suites_or_drawn(bench: Bench, suite: Path) -> None:
    hint = r"seed \d+, drawn now; to use this order: --set repeat.seed="
    first, second = (bench("plan", suite).out for _ in range(2))
    assert re.search(hint, first)
    assert re.findall(r"seed (\d+)", first) != re.findall(r"seed (\d+)", second)
    suite.write_text(SUITE.replace("blocks = 2", "blocks = 2, seed = 7"))
    assert bench("plan", suite).out == TEXT
    assert "\nseed 8\n" in bench("plan", suite, "--seed", "8").out


def test_only_profile_and_set_are_those_of_run(bench: Bench, suite: Path) -> None:
    suite.write_text(f"{SUITE}[profiles.quick]\nsmoke = true\nloaders.closed.duration = 1\n")
    words = ("--only", "hello", "--profile", "quick", "--set", "repeat.blocks=3")
    call = bench("plan", suite, *words)
    assert call.out.startswith("Two servers · profile quick\nsmoke run: it shows that everything")
    assert "6 cases, 3 blocks: 18 trials, about 1 min 3 s (18 s warm-up, 18 s load" in call.out
    assert "second" not in call.out
    plan = read(bench("plan", suite, *words, "--format", "json").out)
    assert (plan.profile, plan.only, plan.smoke) == ("quick", ("hello",), True)
    assert plan.settings == {"repeat.blocks": "3"}


def test_a_long_list_is_cut_and_all_shows_all(bench: Bench, suite: Path) -> None:
    values = f'scenarios.second.vary."servers.app.workers"={[*range(1, 91)]}'
    words = ("--only", "second", "--set", values, "--set", "repeat.blocks=22")
    cut = bench("plan", suite, *words).out
    assert "    and 70 more cases (--all shows all)" in cut
    assert "and 2 more blocks (--all shows all)" in cut
    flat = " ".join(cut.split())
    assert re.search(r"block 20: [\d ]* and 30 more cases \(--all shows all\)", flat)
    assert "    21 app" not in cut
    run = bench("plan", suite, *words, "--all").out
    assert "--all" not in run
    assert "    90 app · requests · workers=90" in run
    order = re.findall(r"\d+", run.partition("block 22: ")[2])
    assert sorted(map(int, order)) == list(range(1, 91))


LINKS = {
    (("closed", "app"), "asks"),
    (("closed", "front"), "asks"),
    (("front", "app"), "passes on to"),
    (("front", "other"), "passes on to"),
    (("app", "db"), "may use"),
    (("other", "db"), "may use"),
    (("requests", "app"), "asks"),
}
_TEXT = r'"((?:[^"\\]|\\.)*)"'
DRAWN = {
    "dot": (
        rf"    label={_TEXT};",
        rf"    (\w+) \[label={_TEXT}\];",
        rf"    (?P<source>\w+) -> (?P<target>\w+) \[label=(?P<says>{_TEXT})\];",
        r"digraph plan \{|  rankdir=LR; .*|  subgraph cluster_\d \{|  \}|\}",
    ),
    "mermaid": (
        r'  subgraph \w+\["([^"<>`]*)"\]',
        r'    (\w+)\["([^"]*)"\]',
        r'    (?P<source>\w+) -->\|(?P<says>"[^"|]*")\| (?P<target>\w+)',
        r"flowchart LR|  end",
    ),
}
"Lines of the title of a scenario, of a part, of a link, and all others."


def read_text(text: str, form: str) -> str:
    if form == "dot":
        return re.sub(r"\\(.)", lambda sign: "\n" if sign[1] == "n" else sign[1], text)
    return re.sub(r"#(\d+);", lambda sign: chr(int(sign[1])), text.replace("<br/>", "\n"))


@pytest.mark.parametrize("form", DRAWN)
def test_plan_draws_the_parts_and_their_links(bench: Bench, suite: Path, form: str) -> None:
    drawn = bench("plan", suite, "--format", form).out
    matches: list[list[re.Match[str]]] = [[] for _ in DRAWN[form]]
    for line in drawn.splitlines():
        (number,) = (n for n, pattern in enumerate(DRAWN[form]) if re.fullmatch(pattern, line))
        matches[number] += re.finditer(DRAWN[form][number], line)
    titles, parts, links, _ = matches
    assert read_text(titles[0][1], form) == 'hello: a "page" of \\ [one] #1 <b>`x`'
    nodes = {part[1]: read_text(part[2], form).split("\n") for part in parts}
    assert sorted(nodes.values()).count(["app", "gunicorn"]) == 2
    assert ["db", "redis"] in nodes.values()
    ends = [(nodes[link["source"]][0], nodes[link["target"]][0]) for link in links]
    says = [link["says"].strip('"') for link in links]
    assert {*zip(ends, says, strict=True)} == LINKS
    if form == "dot" and (program := locate("dot")) is not None:
        graphviz = captured([program, "-Tsvg"], input=drawn, check=True, timeout=300)
        assert graphviz.stderr == ""
        assert graphviz.stdout.count('class="edge"') == len(links)


def varied(**most: int) -> list[str]:
    """Return words that vary options of a scenario from 1 to so many."""
    words = ["--only", "second", "--seed", "1"]
    for option, number in most.items():
        part = "clients.requests" if option == "requests" else "servers.app"
        words += ["--set", f'scenarios.second.vary."{part}.{option}"={[*range(1, number + 1)]}']
    return words


@pytest.mark.parametrize("thousands", [10, pytest.param(100, marks=pytest.mark.exhaustive)])
def test_so_many_thousand_cases_are_planned(bench: Bench, suite: Path, thousands: int) -> None:
    words = varied(workers=100, threads=10, requests=thousands)
    plan = read(bench("plan", suite, *words, "--format", "json").out)
    assert len({case.case.digest for case in plan.cases}) == thousands * 1000
    assert Counter(plan.order[1].cases) == Counter(range(thousands * 1000))
    lines = bench("plan", suite, *words).out.splitlines()
    assert lines[1].startswith(f"{thousands},000 cases, 2 blocks: {2 * thousands},000 trials")
    assert len(lines) < 60


def test_secrets_are_in_no_form_of_it(bench: Bench, suite: Path) -> None:
    # A title that holds the secret of another place is shown by none of them.
    values = ("servers.app.environment.TOKEN=geheim-1", "scenarios.second.title=geheim-1")
    words = [word for value in values for word in ("--set", value)]
    for form in ("text", "json", "dot", "mermaid"):
        outcome = bench("plan", suite, *words, "--format", form, code=0)
        assert "geheim" not in outcome.all


def test_a_plugin_may_object(bench: Bench, suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = suite.parent / "site"
    info = site / "objecting-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: objecting\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[benchforge]\nserver-objecting = objecting\n")
    (site / "objecting.py").write_text(PLUGIN)
    monkeypatch.setenv("PYTHONPATH", str(site))
    suite.write_text(SUITE.replace('"gunicorn", app = "hello_flask"', '"objecting"'))
    for command in ("plan", "run"):
        call = bench(command, suite, "--only", "second", code=2)
        assert "objecting" in call.err
        assert "2 trials are too many for me" in call.err
        assert "hint: one block is enough" in call.err
        call = bench(command, suite, "--only", "second", "--set", "repeat.warmup=9", code=2)
        assert "objecting" in call.err
        assert "benchforge_planned: ZeroDivisionError: division by zero" in call.err
    assert not (suite.parent / "results").exists()
    bench("plan", suite, "--only", "second", "--set", "repeat.blocks=1", code=0)


PLUGIN = """
from typing import ClassVar
from benchforge.plugin import BenchforgeError, Command, Server, hookimpl

class Objecting(Server):
    name: ClassVar[str] = "objecting"

    def command(self, site):
        return Command("true")

@hookimpl
def benchforge_parts():
    return [Objecting]

@hookimpl
def benchforge_planned(graph):
    if next(iter(graph)).case.warm_up_s == 9:
        1 / 0
    if len(graph) > 1:
        raise BenchforgeError(f"{len(graph)} trials are too many for me", "one block is enough")
"""
