"""The brief of a result: Markdown, a drawing and the page's beginning say the same, to anybody."""

import re
import tempfile
from html import unescape
from pathlib import Path

import pytest
from benchforge_reporters.brief import BriefReporter
from benchforge_reporters.document.brief import Brief, homeless, homes, typed
from benchforge_reporters.html.report import Html
from browser import Headless
from hypothesis import given
from hypothesis import strategies as st
from present import present
from screens import RECORDED, compared, recorded

from benchforge.model.summary.summary import Summary
from benchforge.model.trial.trial import Trial

CODE = re.compile(r"\b[A-Z]\d{1,2}\b")
NAMES = st.from_regex(r"zq[a-z0-9_.-]{2,10}x", fullmatch=True)
HOMES = st.sampled_from(["/home/{}", "/Users/{}", "/root"])
FEW_LINES, WIDTHS = 3, (400, 1400)


def files(summary: Summary, trials: tuple[Trial, ...], folder: Path) -> tuple[str, str, str]:
    """Return the brief, its drawing, and the beginning of the page."""
    text, drawing = BriefReporter().report(summary, trials, folder)
    (page,) = Html().report(summary, trials, folder)
    beginning = page.read_text().partition("<details")[0]
    words = re.sub(r"(?s)<style>.*?</style>|<[^>]+>", "\n", beginning)
    return text.read_text(), drawing.read_text(), unescape(words)


@pytest.mark.parametrize("name", RECORDED)
def test_each_form_begins_with_the_answer_and_has_no_code(name: str, tmp_path: Path) -> None:
    summary, trials = recorded(name)
    text, drawing, page = files(summary, trials, tmp_path)
    compared(f"brief-{name}.md", text)
    if name == "faster":
        compared("brief-faster.svg", drawing)
    brief = Brief(summary, trials)
    if brief.alone is not None:
        assert len([brief.title, *brief.lines]) <= FEW_LINES
        assert brief.title == brief.alone.head.sentence
        assert text.startswith(f"**{brief.title}**")
    for form in (text, re.sub(r"<style>.*?</style>|\bd?=\"[^\"]*\"", "", drawing), page):
        assert not CODE.search(form)
        assert brief.title.split()[0] in form
    assert all(line in page for line in brief.lines)
    has_ratio = brief.alone is None or brief.alone.head.ratio is not None
    assert ('class="interval' in drawing) == has_ratio


@given(NAMES, NAMES, HOMES)
def test_no_form_has_the_host_the_user_or_the_home(host: str, user: str, form: str) -> None:
    summary, trials = recorded("start")
    home = form.format(user)
    facts = {**summary.facts, "hostname": host, "user": user, "home": home}
    planted = summary.model_dump_json().replace("/home/bench", home)
    planted = planted.replace("ModuleNotFoundError", f"cannot read {home}/app/hello.py")
    summary = Summary.model_validate_json(planted).model_copy(update={"facts": facts})
    texts = (trial.model_dump_json().replace("/home/bench", home) for trial in trials[:2])
    moved = tuple(map(Trial.model_validate_json, texts))
    with tempfile.TemporaryDirectory() as folder:
        for text in files(summary, moved, Path(folder)):
            assert host not in text
            assert home not in text
            assert user not in text
        assert home not in (Path(folder) / "report.html").read_text() or form == "/root"


@given(HOMES, NAMES, st.integers(1024, 65535))
def test_a_command_is_as_somebody_types_it(form: str, user: str, port: int) -> None:
    home = form.format(user)
    argv = [f"{home}/.venv/bin/gunicorn", "-b", f"127.0.0.1:{port}", f"--chdir={home}"]
    argv += ["-c", f"{home}/conf/tuned.py", "--threads", "4", "--port", str(port), "hello:app"]
    command = "gunicorn -b 127.0.0.1:{port} --chdir=~ -c tuned.py --threads 4 --port {port}"
    assert typed(argv, f"http://127.0.0.1:{port}/") == f"{command} hello:app"
    assert homes([f"python {home}/x http://127.0.0.1:{port}/home/{user}"]) == {home}
    assert homeless(f"see {home}/x and GET /homes/1") == "see ~/x and GET /homes/1"


@pytest.mark.parametrize("name", ["faster", "disturbed"])
def test_nothing_of_the_beginning_is_cut(name: str, tmp_path: Path) -> None:
    files(*recorded(name), tmp_path)
    cut = """[...document.querySelectorAll('#answer *, h1')].filter(
        part => !part.closest('svg') && part.scrollWidth > part.clientWidth + 1 &&
        getComputedStyle(part).display != 'inline' && !part.classList.contains('hidden') &&
        !part.closest('caption')).map(part => part.outerHTML)"""
    beyond = """[...document.querySelectorAll('text')].filter(part => {
        const box = part.getBoundingClientRect();
        return box.left < 0 || box.right > 820 }).map(part => part.textContent)"""
    with Headless() as headless:
        for width in WIDTHS:
            with headless.visit(tmp_path / "report.html", width) as visit:
                assert (visit.messages, visit.sideways()) == ([], 0)
                assert visit.page.evaluate(cut) == []
                box = visit.page.locator("svg.ratio").first.bounding_box()
                assert present(box)["width"] > width / 3
        with headless.visit(tmp_path / "brief.svg", 900) as visit:
            assert (visit.messages, visit.page.evaluate(beyond)) == ([], [])
