"""A result in few words and one drawing: for a chat, a slide, a comment."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from benchforge.plugin import Reporter, Summary, Trial, safe
from benchforge.plugin.drawing import poster
from benchforge_reporters.charts.ratios import answers_chart, ratio_legend
from benchforge_reporters.document.brief import Brief, plain


class BriefReporter(Reporter):
    """The answer, how sure it is, and of what: as Markdown, and as a drawing."""

    name: ClassVar[str] = "brief"

    def report(self, summary: Summary, trials: Sequence[Trial], folder: Path) -> Sequence[Path]:
        """Write brief.md and brief.svg."""
        text, drawing = folder / "brief.md", folder / "brief.svg"
        brief = Brief(summary, trials)
        text.write_text("\n".join(_markdown(brief)), encoding="utf-8")
        origin = f"{brief.machine} · {brief.day} · benchforge {summary.benchforge}"
        lines = [*map(plain, brief.report.alarms), *brief.lines]
        notes = filter(None, (ratio_legend(brief), *brief.measured, origin))
        content = poster(answers_chart(brief), brief.title, lines, [*notes])
        drawing.write_text(content, encoding="utf-8")
        return text, drawing

    def text(
        self,
        summary: Summary,
        trials: Sequence[Trial],
        width: int | None = None,
        colour: bool = False,
    ) -> str:
        """Return the Markdown, which has no width and no colour."""
        return "\n".join(_markdown(Brief(summary, trials)))


def _markdown(brief: Brief) -> Iterator[str]:
    yield f"**{safe.markdown(brief.title)}**\n"
    alarms = map(plain, brief.report.alarms[brief.summary.smoke :])
    yield from (f"{safe.markdown(line)}\n" for line in (*alarms, *brief.lines))
    for number, row in enumerate(brief.table if brief.table[1:] else ()):
        yield f"| {' | '.join(map(safe.markdown, row))} |"
        yield from ["|" + " --- |" * len(row)] * (not number)
    yield f"\n{safe.markdown(brief.times)}" if brief.times else ""
    yield f"\nWhy: {safe.markdown(brief.why)}.\n" if brief.why else ""
    if commands := [command for *_, command in brief.contestants if command]:
        yield safe.fenced("\n".join(commands), "sh")
    setting = (*brief.measured, brief.machine, brief.day)
    yield f"Measured: {safe.markdown('; '.join(setting))}. Another machine may differ.\n"
    yield f"To repeat it, with benchforge {safe.markdown(brief.summary.benchforge)}:\n"
    yield safe.fenced(brief.again, "sh")
