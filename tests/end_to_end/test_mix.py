"""A mix of requests by the command line: its plan, its run, its kinds in reports, and its check."""

import json
from pathlib import Path

import pytest
from front_door import Bench, needed
from measured.on_disk import only_result, trials_of
from suite_texts.files import suite_text

SUITE = suite_text("end_to_end/mix")
SEARCH = """loaders = ["pace"]
find = { rate = [40, 50], slo = ["latency mean slow < 20ms", "latency mean item < 2s"], steps = 1 }
"""


def test_a_mix_has_rows_and_claims_of_its_kinds(bench: Bench, tmp_path: Path) -> None:
    needed("wrk")
    (tmp_path / "mix.toml").write_text(SUITE)
    run = bench("plan", "mix.toml", "--requests", "2")
    assert (run.code, run.out.count("GET /items/"), run.out.count("GET /slow/")) == (0, 2, 2)

    for attempt in range(5):  # a neighbour may spoil a block
        ran = bench("run", "--details", "mix.toml", "-o", f"results-{attempt}")
        if "slow > 2 * item holds" in ran.out:
            break
    assert "slow > 2 * item holds" in ran.out, ran.all
    says = "the load tool does not say which request a response belongs to"
    assert says in " ".join(ran.out.split())
    assert "shop, by kind of request" in ran.out
    result = only_result(tmp_path / f"results-{attempt}")

    by_block: dict[int, set[str]] = {}
    for trial in trials_of(result):
        by_block.setdefault(trial["block"], set()).add(trial["stream"]["sha256"])
        checks = {check["id"]: check["status"] for check in trial["checks"]}
        actual = trial["case"]["driver"] == "pace"
        assert (checks["R1"], checks["R2"]) == ("pass" if actual else "unknown", "pass")
        kinds = {label: kind["responses"] for label, kind in trial["reading"]["kinds"].items()}
        assert not kinds or sum(kinds.values()) == trial["reading"]["responses"]
        # Three to one, to within a deck of four and the four that are under way.
        assert not kinds or abs(kinds["item"] - 3 * kinds["slow"]) <= 16, kinds
    # pace and wrk have the same stream in a block, and another in the next.
    assert all(len(digests) == 1 for digests in by_block.values())
    assert len(set().union(*by_block.values())) == 3

    bench("verify", str(result), code=0)
    damaged = next(result.glob("trials/*/trial.json"))
    changed = json.loads(damaged.read_text())
    changed["stream"]["kinds"]["item"]["records"] += 1
    damaged.write_text(json.dumps(changed))
    refused = bench("verify", str(result))
    assert refused.code != 0
    assert "stream" in refused.all


def test_a_search_has_objectives_of_kinds(bench: Bench, tmp_path: Path) -> None:
    text = SUITE.partition("[claims.")[0]
    text = text.replace("benchforge = 1\n", "benchforge = 1\nsmoke = true\n")
    text = text.replace('duration = "1s"', 'duration = "500ms"', 1)
    text = text.replace("blocks = 3, ", "").replace('loaders = ["pace", "wrk"]', SEARCH)
    (tmp_path / "search.toml").write_text(text)
    ran = bench("run", "search.toml")
    assert ran.code in {0, 4}, ran.all
    first = trials_of(ran.result)[0]
    outcomes = {outcome["objective"]: outcome for outcome in first["search_outcome"]["outcomes"]}
    slow, items = outcomes["latency mean slow < 20ms"], outcomes["latency mean item < 2s"]
    assert (slow["kept"], items["kept"]) == (False, True)
    bench("verify", ran.result, code=0)


KINDS = {
    "shop": {"list", "product", "orders", "buy.add", "buy.pay"},
    "queries": {"json", "plaintext", "db", "queries", "fortunes", "updates"},
}


@pytest.mark.samples(1)
@pytest.mark.parametrize("stem", KINDS)
def test_a_built_in_mix_is_answered_rightly(bench: Bench, tmp_path: Path, stem: str) -> None:
    needed("postgres")
    for duration in ("300ms", "2s", "20s"):  # until a busy machine had time for each kind
        words = ("--set", f"loaders.users.duration={duration}", "-o", f"in-{duration}")
        bench("run", stem, "--profile", "quick", *words, code=0)
        result = only_result(tmp_path / f"in-{duration}")
        trials = trials_of(result)
        assert [trial["failure"] for trial in trials] == [None] * 3
        kinds = [trial["reading"]["kinds"] for trial in trials]
        if all(value["responses"] for readings in kinds for value in readings.values()):
            break
    for readings in kinds:
        assert set(readings) == KINDS[stem]
        for label, reading in readings.items():
            assert reading["responses"] > 0, label
            assert reading["responses"] == reading["good_at_least"], label
    bench("verify", result, code=0)
