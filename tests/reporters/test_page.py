"""report.html in a real browser: it loads nothing, fits each width, sorts, obeys the keyboard."""

import math
import re
from pathlib import Path

import pytest
from benchforge_reporters.html.report import Html
from browser import Headless
from made import made_result
from made.shown import case, line, result, trial

from benchforge.model.summary.summary import Comparison, Summary
from benchforge.stats.summary.summarize import summarize

HOSTILE = '"><img src=x onerror=alert(1)></title><script>alert(2)</script>' * 5
UNFOLD = "for (const part of document.querySelectorAll('details')) part.open = true"
STYLE = Path(__file__).parents[2] / "benchforge/report/charts/theme.css"


def servers(*names: str) -> Summary:
    cases = [
        case(
            name,
            line("throughput", "1/s", 1000.0 * path, 1010.0 * path, 990.0 * path),
            line("latency", "us", 900 / path, 1100 / path, 1300 / path, label="p50"),
            line("cpu", "s", 0.0003 / path, 0.0003 / path, 0.0003 / path, label="server"),
            line("cpu", "s", 0.0001, 0.0001, 0.0001, label="loader"),
        )
        for path, name in enumerate(names, start=1)
    ]
    sides = tuple(subject.case for subject in cases)
    compared = Comparison(scenario="hello", driver="wrk", vary={}, cases=sides, checks=())
    summary = result(*cases, title=f"Servers: {names[0]}")
    return summary.model_copy(update={"comparisons": (compared,)})


def written(summary: Summary, folder: Path) -> Path:
    (file,) = Html().report(summary, (trial(1), trial(2)), folder)
    return file


@pytest.mark.samples(2)
@pytest.mark.parametrize("label", ["waitress", HOSTILE])
@pytest.mark.parametrize("width", [400, 900, 1400])
def test_the_page_loads_nothing_and_fits(
    headless: Headless, tmp_path: Path, width: int, label: str
) -> None:
    file = written(servers("gunicorn", label, "granian"), tmp_path)
    for dark in (False, True):
        with headless.visit(file, width, dark=dark) as visit:
            assert visit.messages == []
            assert visit.requests == [file.as_uri()]
            assert visit.sideways() == 0
            visit.page.evaluate(UNFOLD)
            assert visit.sideways() == 0
            assert visit.page.locator("img").count() == 0
            assert visit.page.locator(".card").count() == 1


def test_a_table_is_sorted_both_ways_by_numbers(headless: Headless, tmp_path: Path) -> None:
    names = ["gunicorn", "waitress", "granian"]
    with headless.visit(written(servers(*names), tmp_path)) as visit:
        visit.page.evaluate(UNFOLD)
        table = visit.page.locator("#scenario-1 table").first
        head = table.locator("th", has_text="throughput")
        for order, state in ((names, "ascending"), (names[::-1], "descending")):
            head.get_by_role("button").click()
            assert table.locator("tbody th").all_inner_texts() == order
            assert head.get_attribute("aria-sort") == state


def test_the_theme_changes_and_the_keyboard_reaches_the_answer(
    headless: Headless, tmp_path: Path
) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    with headless.visit(written(servers("gunicorn"), tmp_path)) as visit:
        light = visit.page.evaluate(paper)
        visit.page.get_by_role("button", name="Light or dark").click()
        assert visit.page.evaluate(paper) != light
        visit.page.reload()
        visit.page.keyboard.press("Tab")
        assert visit.page.evaluate("document.activeElement.textContent") == "Skip to the answer"
        visit.page.keyboard.press("Enter")
        assert visit.page.url.endswith("#answer")


def test_without_script_everything_is_there(headless: Headless, tmp_path: Path) -> None:
    file = written(servers("gunicorn", "waitress"), tmp_path)
    with headless.visit(file, script=False) as visit:
        assert not visit.page.locator("#scenario-1 table").first.is_visible()
        for fold in ("#scenario-1", "#how"):
            visit.page.locator(f"{fold} > summary").click()
        assert visit.page.locator("#scenario-1 table").first.is_visible()
        assert not visit.page.locator("#theme").is_visible()
        for title in ("Every trial", "Versions, and the machine"):
            visit.page.get_by_text(title, exact=True).first.click()
        assert visit.page.get_by_text("4.1.0").first.is_visible()


def themes() -> dict[str, dict[str, str]]:
    """Return the colours of each theme: the names of theme.css with their values."""
    colours = r"--([\w-]+): light-dark\((#[0-9a-f]{3,6}), (#[0-9a-f]{3,6})\)"
    names, light, dark = zip(*re.findall(colours, STYLE.read_text()), strict=True)
    sides = {"light": light, "dark": dark}
    return {theme: dict(zip(names, side, strict=True)) for theme, side in sides.items()}


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour, by WCAG 2.2."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[index : index + 2], 16) / 255 for index in (0, 2, 4)]
    linear = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return sum(math.prod(pair) for pair in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(first: str, second: str) -> float:
    """Return the contrast of two colours, by WCAG 2.2: from 1 to 21."""
    darker, lighter = sorted([luminance(first), luminance(second)])
    return (lighter + 0.05) / (darker + 0.05)


def test_every_text_and_every_mark_has_enough_contrast() -> None:
    on_paper = ["ink", "dim", "link", "good", "warn", "bad"]
    pairs = [(text, paper, 4.5) for text in on_paper for paper in ("paper", "card")]
    pairs += [(text, "soft", 4.5) for text in ("ink", "dim", "link")]
    pairs += [(f"{text}", f"{text}-paper", 4.5) for text in ("good", "warn", "bad")]
    pairs += [("dim", "mute", 4.5), ("ink", "bad-paper", 4.5)]
    marks = [*(f"colour{number}" for number in range(6)), "server", "upstream", "backend"]
    pairs += [(mark, "card", 3.0) for mark in [*marks, "loader", "other"]]
    poor = {
        (theme, text, paper): round(contrast(colours[text], colours[paper]), 2)
        for theme, colours in themes().items()
        for text, paper, least in pairs
        if contrast(colours[text], colours[paper]) < least
    }
    assert poor == {}


def test_what_grows_with_trials_is_capped_and_says_so(tmp_path: Path) -> None:
    few, many = (_page_of(blocks, tmp_path / str(blocks)) for blocks in (1_000, 2_000))
    assert len(many) < 1.1 * len(few)
    assert "and 3,500 more trials, which numbers.csv and trials/ have" in many
    assert "4,000 trials, of which 3,136 have no mark" in many
    rows = many.partition(": every trial</caption>")[2].partition("</table>")[0]
    assert rows.count("<tr") == 501


def _page_of(blocks: int, folder: Path) -> str:
    """Return the page of a result with two servers and so many blocks."""
    folder.mkdir()
    cases = [made_result.case(server) for server in ("one", "two")]
    values = [[1000.0 * path + block % 7 for block in range(blocks)] for path in (1, 2)]
    trials = made_result.trials([*zip(cases, values, strict=True)])
    summary = summarize(made_result.header(cases, blocks), trials, made_result.METRICS)
    Html().report(summary, trials, folder)
    return (folder / "report.html").read_text()
