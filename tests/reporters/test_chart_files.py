"""The charts of report.md: files that any forge shows, with nothing to load and nothing to run."""

import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from benchforge_reporters.markdown import Markdown
from browser import Headless
from made import made_result, plain
from made.studied import SCENARIOS, studied

from benchforge.model.summary.summary import Summary
from benchforge.model.trial.trial import Trial
from benchforge.report.charts.chart_file import WIDTH
from benchforge.stats.summary.summarize import summarize

HOSTILE = ']]></style><script>alert(1)</script><img src=x onerror=alert(2)>"' * 3
_IMAGE = re.compile(r"!\[[^\n]*\]\((?P<file>[^)]+)\)")
ELEMENTS = {"svg", "style", "defs", "title", *("circle", "rect", "path", "line", "use", "text")}
_NAMESPACE = "{http://www.w3.org/2000/svg}"


def written(summary: Summary, trials: list[Trial], folder: Path) -> list[Path]:
    files = [Path(file) for file in Markdown().report(summary, trials, folder)]
    assert [file for file in files if not file.is_file()] == []
    return [file for file in files if file.suffix == ".svg"]


def hostile() -> tuple[Summary, list[Trial]]:
    names = [plain.named(name, driver="few") for name in (HOSTILE, "plain")]
    trials = made_result.trials([(name, [100.0, 101.0, 99.0, 100.5]) for name in names])
    return summarize(made_result.header(names, 4), trials, made_result.METRICS), trials


def test_each_chart_is_beside_the_report_which_names_it(tmp_path: Path) -> None:
    drawn = written(*studied(), tmp_path)
    assert len(drawn) == len(SCENARIOS) + 1
    text = (tmp_path / "report.md").read_text()
    assert [tmp_path / item["file"] for item in _IMAGE.finditer(text)] == drawn
    assert "| db | **" in text


@pytest.mark.parametrize("made", [studied, hostile])
def test_a_file_has_no_script_and_refers_to_itself_only(
    made: Callable[[], tuple[Summary, list[Trial]]], tmp_path: Path
) -> None:
    summary, trials = made()
    for file in written(summary, trials, tmp_path):
        elements = list(ET.fromstring(file.read_text()).iter())  # noqa: S314 - our own file
        assert {element.tag.removeprefix(_NAMESPACE) for element in elements} <= ELEMENTS
        attributes = [item for element in elements for item in element.attrib.items()]
        assert [name for name, _ in attributes if name.startswith("on")] == []
        references = [value for name, value in attributes if name.endswith(("href", "src"))]
        ids = {f"#{element.attrib['id']}" for element in elements if "id" in element.attrib}
        assert references
        assert set(references) <= ids
        assert "url(" not in file.read_text()
        assert "@import" not in file.read_text()


def test_a_forge_shows_it_as_an_image(headless: Headless, tmp_path: Path) -> None:
    drawn = written(*hostile(), tmp_path)
    images = "".join(f'<img src="{file.relative_to(tmp_path)}">' for file in drawn)
    page = tmp_path / "page.html"
    page.write_text(f"<!doctype html><title>x</title>{images}")
    with headless.visit(page) as visit:
        widths = visit.page.evaluate("[...document.images].map((one) => one.naturalWidth)")
        assert widths == [WIDTH] * len(drawn)
        assert visit.messages == []
