"""A result of many trials: what its page leaves out, and says so."""

from pathlib import Path

from benchforge_reporters.html.report import Html
from made.shown import case, line, result, trial


def test_the_page_lists_500_trials_and_says_so(tmp_path: Path) -> None:
    values = [1000.0 + number for number in range(2500)]
    summary = result(case("one", line("throughput", "1/s", *values)))
    (file,) = Html().report(summary, [trial(number) for number in range(1, 2501)], tmp_path)
    page = file.read_text()
    assert page.partition(": every trial</caption>")[2].partition("</table>")[0].count("<tr") == 501
    assert "and 2,000 more trials, which numbers.csv and trials/ have" in page


def test_a_page_of_few_trials_lists_all(tmp_path: Path) -> None:
    summary = result(case("one", line("throughput", "1/s", 1.0, 2.0)))
    (file,) = Html().report(summary, (trial(1), trial(2)), tmp_path)
    assert "more trials, which" not in file.read_text()
