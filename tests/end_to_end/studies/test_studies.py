"""docs/studies.md: what is said of published claims, from results of real runs."""

import json
import sys
from pathlib import Path

import pytest
from front_door import Bench, answering, captured
from suite_texts.files import suite_text

from benchforge.errors import Unusable
from docs.generate.studies import page

SUITE = suite_text(
    "end_to_end/studies/studies", answering=answering(), slow=answering("--wait", "0.05")
)


def rows(text: str, first: str) -> list[list[str]]:
    """Return the cells of the rows whose first cell begins so."""
    lines = [line for line in text.splitlines() if line.startswith(f"| {first}")]
    return [
        [cell.strip() for cell in line.replace(r"\|", "\0").strip("|").split("|")] for line in lines
    ]


def test_each_claim_is_a_row(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "suite.toml").write_text(SUITE)
    attempt = 0
    while True:  # a neighbour that stops one of three blocks makes intervals wide
        attempt += 1
        call = bench("run", "suite.toml", "-o", f"out-{attempt}")
        (folder,) = (tmp_path / f"out-{attempt}").iterdir()
        summary = json.loads((folder / "summary.json").read_text())
        if attempt == 5 or [item["state"] for item in summary["verdicts"]] == ["fails", "holds"]:
            break
    assert call.code == 1, call.all  # one claim fails
    text = page([folder])
    assert r"## one server | and a \*slow\* one" in text
    claim, corrected = rows(text, "XX1")
    assert (claim[0], claim[1:3]) == ("XX1: the slow one serves more", ["`a > b`", "1.5x"])
    assert (claim[4], claim[6]) == ("**fails**", "the rows were \0 swapped")
    assert (corrected[0], corrected[4]) == (r"XX1_corrected: the fast one serves more", "**holds**")
    for row in (claim, corrected):
        assert "blocks" in row[3], "the interval and what it rests on"
    assert rows(text, "as published: 1")[0][1:] == ["0", "1", "0", "0"]
    assert rows(text, "corrected: 1")[0][1:] == ["1", "0", "0", "0"]
    # What a check found of one side stands with the claim.
    against = summary["verdicts"][0]["objections"]
    for item in against:
        if item["check"]["status"] in {"fail", "warn"}:
            assert f"{item['check']['status']} {item['check']['id']}" in claim[5]


def test_a_smoke_is_refused(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "suite.toml").write_text(SUITE)
    bench("run", "suite.toml", "--profile", "quick", "-o", "out")
    (folder,) = (tmp_path / "out").iterdir()
    with pytest.raises(Unusable, match="has no verdicts"):
        page([folder])


def test_what_is_no_result_is_told_in_one_line(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    for words in ([], [str(tmp_path)]):
        done = captured([sys.executable, "-m", "docs.generate.studies", *words], cwd=root)
        assert done.returncode == Unusable.exit_code
        assert "Traceback" not in done.stderr
        assert done.stderr
