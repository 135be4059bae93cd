"""One cell of a table: a value with its spread, or that it is not known; and labels of rows."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from benchforge.plugin import CaseSummary, MetricSummary, Statistic, TrialSample, readable, titled

CENTRES = ("median", "mean", "average")
"Statistics that can have a spread."
Centre = Statistic | Literal["typical"]
NOTHING = "–"
_RESPONSES = re.compile(r"\b(\d+) responses\b")
_UNCOUNTED = "\0 responses"
Taken = tuple[MetricSummary, TrialSample]
"A line, and what a trial gave it."


@dataclass(frozen=True)
class Figure:
    """A value, in the line's unit; None where it is not known, and then `why` says why."""

    value: float | None
    at_least: bool = False
    why: str = ""


def figure(line: MetricSummary, statistic: Centre) -> Figure:
    """Return a statistic of a line. Raises ValueError for `range` and `runs`, which are none."""
    if line.median is None:
        return Figure(None, why=line.why)
    bounds = [sample.sample.value for sample in line.samples if sample.sample.lower_bound]
    exact = [sample.sample.value for sample in line.samples if not sample.sample.lower_bound]
    match statistic:
        case "typical" | "median":
            typical = Figure(line.level, line.at_least)
            return typical if statistic == "typical" else Figure(line.median, line.lower_bound)
        case "mean" | "average":
            return Figure(line.mean, bool(bounds))
        case "sd":
            reason = "a value is only a lower bound" if bounds else "one trial has no deviation"
            return Figure(line.sd, why="" if line.sd is not None else reason)
        case "min":
            return Figure(line.lowest, line.lowest not in exact)
        case "max":
            return Figure(line.highest, bool(bounds))
        case _:
            raise ValueError(f"{statistic} is no statistic of one number")


class Footnotes:
    """Texts below a table, numbered as they are first needed. Numbers with one reason share it.

    Reasons that differ in their number of responses only are one, with the least and the most.
    """

    def __init__(self) -> None:
        self._notes: dict[str, _Note] = {}

    def mark(self, reason: str, title: str = "", others: Iterable[str] = ()) -> str:
        """Return the number of a reason, in the form in which a cell shows it.

        `others` are reasons of other trials that differ in their number of responses only.
        """
        note = self._notes.setdefault(_uncounted(reason), _Note(len(self._notes) + 1))
        note.counts.extend(int(n) for text in (reason, *others) for n in _RESPONSES.findall(text))
        if title:
            note.titles[title] = None
        return f"({note.number})"

    def __iter__(self) -> Iterator[str]:
        for reason, note in self._notes.items():
            about = f"{readable.listed(note.titles)}: " if note.titles else ""
            yield f"({note.number}) {about}{note.counted(reason)}"


@dataclass(frozen=True, slots=True)
class _Note:
    number: int
    titles: dict[str, None] = field(default_factory=dict)
    counts: list[int] = field(default_factory=list)

    def counted(self, reason: str) -> str:
        if not self.counts:
            return reason
        least, most = min(self.counts), max(self.counts)
        responses = f"{least}" if least == most else f"{least} to {most}"
        return reason.replace(_UNCOUNTED, f"{responses} responses")


def _uncounted(reason: str) -> str:
    """Return a reason without its number of responses, where it has one such number."""
    text, times = _RESPONSES.subn(_UNCOUNTED, reason)
    return text if times == 1 else reason


@dataclass(frozen=True, slots=True)
class Cell:
    """Values, each with its spread, which may be empty."""

    parts: tuple[tuple[str, str], ...]
    loud: bool = False
    all_known: bool = True

    @classmethod
    def of_word(cls, text: str, loud: bool = False, all_known: bool = True) -> "Cell":
        """Return a cell of one word."""
        return cls(((text, ""),), loud, all_known)


def of_lines(
    lines: Sequence[MetricSummary],
    scale: readable.Scale,
    notes: Footnotes,
    statistic: Centre = "typical",
    spread: bool = True,
) -> Cell:
    """Return the cell of a case: typical values or another statistic, with lowest and highest."""
    if not lines:
        return Cell.of_word(NOTHING, all_known=False)
    # Classes of errors that never occurred are all said by one zero.
    lines = [each for each in lines if not _is_class(each) or each.median is None or _highest(each)]
    if not lines:
        return Cell.of_word("0")
    return Cell(
        tuple(_part(line, scale, notes, statistic, spread) for line in lines),
        # Not zero is a finding that nobody may overlook.
        loud=any(line.of_failures and _highest(line) > 0 for line in lines),
        all_known=all(figure(line, statistic).value is not None for line in lines),
    )


def of_trial(taken: Sequence[Taken], scale: readable.Scale, notes: Footnotes) -> Cell:
    """Return the cell of one trial: of each line its value, which is each statistic."""
    lines = []
    for line, trial_sample in taken:
        sample = trial_sample.sample
        update = dict.fromkeys(("typical", "median", "lowest", "highest"), sample.value)
        bound = {"samples": (trial_sample,), "lower_bound": sample.lower_bound, "why": sample.why}
        lines.append(line.model_copy(update=update | bound))
    return of_lines(lines, scale, notes)


def _part(
    line: MetricSummary, scale: readable.Scale, notes: Footnotes, statistic: Centre, spread: bool
) -> tuple[str, str]:
    centre = figure(line, statistic)
    if centre.value is None or line.lowest is None or line.highest is None:
        # What is known of errors is told, though some trials do not know.
        bound = f"up to {scale.text(_highest(line))} "
        word = bound if _is_class(line) and _highest(line) else "unknown "
        return _named(line, word + _why_unknown(line, centre.why, notes)), ""
    text = ("> " if centre.at_least else "") + scale.text(centre.value) + _remark(line, notes)
    if not spread or len(line.samples) == 1:
        return _named(line, text), ""  # one trial has no spread
    lowest, highest = scale.text(line.lowest), scale.text(line.highest)
    beyond = "> " if any(sample.sample.lower_bound for sample in line.samples) else ""
    return _named(line, text), f"[{lowest}–{beyond}{highest}]"


def _remark(line: MetricSummary, notes: Footnotes) -> str:
    """Mark a median whose trials say something about their values: too few responses, say."""
    reasons = list(dict.fromkeys(sample.sample.why for sample in line.samples if sample.sample.why))
    if not reasons:
        return ""
    if len({_uncounted(reason) for reason in reasons}) == 1:
        return f" {notes.mark(reasons[0], titled(line.metric, line.of), reasons)}"
    return f" {notes.mark(f'{reasons[0]} (other trials alike)', titled(line.metric, line.of))}"


def _why_unknown(line: MetricSummary, cause: str, notes: Footnotes) -> str:
    """Mark an unknown median: with the trials, unless all of them had too few responses."""
    reasons = [sample.sample.why for sample in line.samples if sample.sample.value is None]
    uncounted = {_uncounted(reason) for reason in reasons}
    if len(uncounted) == 1 and _UNCOUNTED in next(iter(uncounted)):
        return notes.mark(reasons[0], titled(line.metric, line.of), reasons)
    return notes.mark(cause, titled(line.metric, line.of))


def _named(line: MetricSummary, text: str) -> str:
    return f"{line.of} {text}" if _is_class(line) else text


def _is_class(line: MetricSummary) -> bool:
    return line.measurand == "failed requests" and line.of is not None


def _highest(line: MetricSummary) -> float:
    return max((sample.sample.value or 0 for sample in line.samples), default=0)


@dataclass(frozen=True)
class Labels:
    """Heads, and for each case the words below them."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def case_labels(cases: Sequence[CaseSummary]) -> Labels:
    """Return the server, the driver where there are several, and what varies."""
    names = [case.case for case in cases]
    paths = tuple(dict.fromkeys(path for name in names for path in name.vary))
    several = len({name.driver for name in names}) > 1
    varied = [[str(name.vary.get(path, "")) for path in paths] for name in names]
    drivers = [(name.driver,) if several else () for name in names]
    rows = zip(names, drivers, varied, strict=True)
    return Labels(
        ("server", *(("driver",) if several else ()), *short(paths)),
        tuple((name.server, *driver, *texts) for name, driver, texts in rows),
    )


def short(paths: Sequence[str]) -> tuple[str, ...]:
    """Return the last name of each path, or all of it where several end alike."""
    ends = [path.rpartition(".")[2] for path in paths]
    pairs = zip(paths, ends, strict=True)
    return tuple(end if ends.count(end) == 1 else path for path, end in pairs)
