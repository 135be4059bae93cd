"""All that is known of the causes of findings, for `benchforge report --why`."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import ClassVar

from benchforge.plugin import FoldedFinding, Reporter, Summary, Trial, readable
from benchforge_reporters.document.causes import SIGNS, CauseText, cause_texts
from benchforge_reporters.terminal.paint import Paint

_MOST = 12  # trials that are named


class Why(Reporter):
    """Each cause of findings, with all that follows from it."""

    name: ClassVar[str] = "why"

    def report(self, summary: Summary, trials: Sequence[Trial], folder: Path) -> Sequence[Path]:
        """Write no file: this form is for the eye."""
        return ()

    def text(
        self,
        summary: Summary,
        trials: Sequence[Trial],
        width: int | None = None,
        colour: bool = False,
    ) -> str:
        """Return each cause with its findings: where, in which trials, and the limit."""
        paint = Paint(width, colour)
        causes = cause_texts(summary, trials).all
        unknown = [one for one in causes if _is_unknown(one)]
        blocks = ["\n".join(_cause(one, paint)) for one in causes if one not in unknown]
        if unknown:
            blocks.append("\n".join(_unknown(unknown, paint)))
        return "\n\n".join(blocks or ["no check found anything"]) + "\n"


def _is_unknown(text: CauseText) -> bool:
    """Whether a cause is only that checks could not look, and limits no answer."""
    return text.kind == "expert" and all(
        one.check.status == "unknown" for one in text.cause.findings
    )


def _unknown(texts: Sequence[CauseText], paint: Paint) -> Iterator[str]:
    """Yield what was not seen: a line for each check."""
    yield paint.of("heading", "Not known, which limits no answer")
    for text in texts:
        for _, alike in groupby(text.cause.findings, lambda of: of.check.because or of.check.id):
            first, *more = alike
            checks = (one.check for one in (first, *more))
            named = readable.conjoined(
                dict.fromkeys(f"{one.id} {one.name}".strip() for one in checks)
            )
            count = first.count + sum(one.count for one in more if one.check.id == first.check.id)
            times = f" ({readable.counted(count, 'finding')})" if count > 1 else ""
            yield from paint.wrapped(f"{named}: {first.check.message}{times}", "  - ", "    ")


def _cause(text: CauseText, paint: Paint) -> Iterator[str]:
    sign, meaning, words = SIGNS[text.kind]
    if text.kind == "expert":  # its findings are all that there is to say
        yield paint.of(meaning, sign) + paint.of("heading", f" {text.id}, {words}")
        for alike in text.outcomes:
            yield from _check(alike, paint)
        return
    first, *more = paint.wrapped(f"{text.id}: {text.brief}", f"{sign} ")
    yield paint.of(meaning, sign) + paint.of("heading", first[len(sign) :])
    yield from (paint.of("heading", line) for line in more)
    yield from paint.wrapped(f"{words}: {text.effect}", "  ")
    yield from paint.lines("do", text.remedy and f"→ {text.remedy}", first="  ", rest="    ")
    if text.cause.verdicts:
        yield from paint.wrapped(f"speaks against: {readable.listed(text.cause.verdicts)}", "  ")
    for alike in text.outcomes:
        yield from _check(alike, paint)


def _check(findings: Sequence[FoldedFinding], paint: Paint) -> Iterator[str]:
    first = findings[0].check
    count = sum(one.count for one in findings)
    named = f"{first.id} {first.name}".strip()
    title = f"{first.status} {named}, {readable.counted(count, 'finding')}"
    yield from paint.wrapped(f"{title}; {first.threshold}" if first.threshold else title, "  ")
    for finding in findings:
        where = finding.case or finding.scenario or "the whole result"
        numbers = readable.listed((str(number) for number in finding.trials), _MOST)
        trials = f", trials {numbers}" if finding.trials else ""
        yield from paint.wrapped(f"{where}{trials}: {finding.check.message}", "    - ", "      ")
