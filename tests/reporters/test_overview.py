"""Many claims and comparisons: counts, a matrix, and a line for each; on a page and a terminal."""

from pathlib import Path

import pytest
from benchforge_reporters.document.claims import claim_lines
from benchforge_reporters.document.document import document
from benchforge_reporters.html.report import Html
from benchforge_reporters.terminal.report import Terminal
from browser import Headless
from hypothesis import given, settings
from hypothesis import strategies as st
from made.studied import PUBLISHED, SCENARIOS, SERVERS, studied
from present import present

from benchforge.model.suite.claim import Term
from benchforge.model.summary.summary import Summary
from benchforge.model.trial.trial import Trial

CLAIMS = len(SCENARIOS) * (len(SERVERS) - 1)


@pytest.fixture(scope="module")
def result() -> tuple[Summary, list[Trial]]:
    return studied()


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 10_000))
def test_bold_is_who_was_not_found_to_differ_from_the_best(seed: int) -> None:
    summary, trials = studied(seed=seed)
    overview = present(document(summary, trials).overview)
    assert len(overview.rows) == len(SCENARIOS)
    for row, comparison in zip(overview.rows, summary.comparisons, strict=True):
        ranking = present(present(summary.standing(comparison)).ranking)
        first = ranking.order[0].server
        worse = {pair.second for pair in ranking.pairs if pair.first == first and pair.differ}
        assert {cell.server for cell in row.cells if cell.tied} == set(SERVERS) - worse
        shares = [cell.share or 0.0 for cell in row.cells]
        assert shares == sorted(shares, reverse=True)
        assert shares[0] == 1.0


def test_published_values_are_counted_by_their_intervals() -> None:
    summary, trials = studied()
    overview = present(document(summary, trials).overview)
    claims = {claim.label: claim for claim in summary.claims}
    sourced = [item for item in summary.verdicts if claims[item.claim].published is not None]
    excluded = 0
    for verdict in sourced:
        low, high = present(verdict.estimate.interval)
        excluded += not low <= present(claims[verdict.claim].published) <= high
    assert (overview.published, overview.excluded, overview.unknown) == (len(sourced), excluded, 0)
    assert len(sourced) == sum(
        PUBLISHED[number % len(PUBLISHED)] is not None for number in range(1, CLAIMS + 1)
    )


def test_a_claim_names_its_sides_and_where_claims_differ_its_metric(
    result: tuple[Summary, list[Trial]],
) -> None:
    summary, _ = result
    first, second, *others = summary.claims
    (pair,) = first.instances
    hypotheses = ["granian > bjoern", "granian > uvicorn"]
    assert [line.hypothesis for line in claim_lines(summary)][:2] == hypotheses
    minus = Term(case=pair.a.case, minus=present(second.instances[0].b).case)
    less = pair.model_copy(update={"a": minus})
    other = second.model_copy(update={"metric": "client_cpu", "of": "total"})
    request = first.model_copy(update={"instances": (less,)})
    changed = summary.model_copy(update={"claims": (request, other, *others)})
    assert [line.hypothesis for line in claim_lines(changed)][:2] == [
        "throughput of (granian - uvicorn) > bjoern",
        "client_cpu total of granian > uvicorn",
    ]


@pytest.mark.parametrize("width", [80, 120, 200])
def test_a_terminal_has_a_line_for_each_claim_and_fits(
    result: tuple[Summary, list[Trial]], width: int
) -> None:
    text = Terminal().text(*result, width)
    lines = text.splitlines()
    assert max(map(len, lines)) <= width
    assert len(lines) <= CLAIMS + 2 * len(SCENARIOS) + 19
    assert f"{CLAIMS} claims: " in text
    for claim in result[0].claims:
        assert sum(line[2:].startswith(f"{claim.label} ") for line in lines) == 1


def test_the_page_filters_its_claims_and_sorts_its_matrix(
    headless: Headless, result: tuple[Summary, list[Trial]], tmp_path: Path
) -> None:
    (file,) = Html().report(*result, tmp_path)
    held = sum(verdict.state == "holds" for verdict in result[0].verdicts)
    assert 0 < held < CLAIMS
    with headless.visit(file, 400) as visit:
        assert (visit.messages, visit.sideways()) == ([], 0)
        page = visit.page
        page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
        assert page.locator(".tile").count() == CLAIMS
        assert page.locator(".claim:visible").count() == CLAIMS
        page.get_by_text(f"hold {held}", exact=True).click()
        assert page.locator(".claim:visible").count() == held
        heads = page.locator(".matrix tbody th")
        assert heads.all_inner_texts() == list(SCENARIOS)
        page.locator(".matrix th", has_text="waitress").get_by_role("button").click()
        assert set(heads.all_inner_texts()[-2:]) == {"db", "upload"}
