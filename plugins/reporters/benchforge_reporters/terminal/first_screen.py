"""The first screen of a result: the answer, how sure it is, who may quote it, and what is next."""

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

from benchforge.plugin import Summary, Trial, readable, safe
from benchforge.plugin.drawing import Quoted, RatioAxis, in_rounds, numbers, short
from benchforge_reporters.document.brief import PAIR, Brief, compact, timed
from benchforge_reporters.document.claims import claim_states
from benchforge_reporters.terminal.paint import Meaning, Paint
from benchforge_reporters.terminal.report import Terminal, last_lines
from benchforge_reporters.text.search import rate_in_words
from benchforge_reporters.text.words import lost

WIDTH: Final = 80
FEW_LINES, MOST_LINES = 15, 25
"Of a result with one comparison, and of one with several."
_LEGEND: Final = "● the ratio, ├ ┤ its 95 % interval, ▒ less than 5 %: too small to matter"
_LABEL: Final = 17  # columns
_BAR, _SMALL_BAR = 71, 23  # columns: 1 is in the middle of each
_TABLES: Final = 3  # comparisons with a table
_MEANINGS: Final[dict[str, Meaning]] = {"wrong": "bad", "start": "bad", "none": "bad"}
Block = tuple[int, list[str]]
"Lines, and how dispensable they are: where lines lack, the highest number goes first."


class FirstScreen(Terminal):
    """The answer in the first line, and all that is needed to quote it, on one screen."""

    name: ClassVar[str] = "answer"

    def _written(self, summary: Summary, trials: Sequence[Trial], paint: Paint) -> str:
        """Return the screen: at most 15 lines for one comparison, 25 for several."""
        narrow = Paint(min(paint.width or WIDTH, WIDTH), paint.colour)
        screen = _Screen(Brief(summary, trials), narrow)
        most = FEW_LINES if len(screen.answers) == 1 and not summary.claims else MOST_LINES
        return "\n".join(readable.fitted(screen.blocks(), most)) + "\n"


class _Screen:
    def __init__(self, brief: Brief, paint: Paint) -> None:
        self.brief, self.paint = brief, paint
        self.summary, self.report = brief.summary, brief.report
        self.answers, self.caveats = brief.answers, brief.caveats
        self.remedy = self.caveats[0].text.remedy if self.caveats else ""
        self.runs = self.remedy.startswith("benchforge run ")

    def blocks(self) -> Iterator[Block]:
        """Yield all parts of the screen, the answers first."""
        several, legend = len(self.answers) > 1, False
        answers = self.brief.worded
        for answer in answers[: MOST_LINES // 2]:
            yield 0, [*self._sentence(answer, named=several)]
        if len(answers) > MOST_LINES // 2:
            more = readable.counted(len(answers) - MOST_LINES // 2, "more comparison")
            yield 0, [f"{more}: benchforge report RESULT --details"]
        alarms = map(in_rounds, self.report.alarms[self.summary.smoke :])
        yield 0, self.paint.lines("bad", *alarms)
        if self.summary.smoke:
            yield 0, self.paint.lines("aside", *self.report.tally)
        measured, rest = self.brief.measured, ""
        if self.brief.request and len(measured[0]) > WIDTH:
            measured, rest = [self.brief.request], self.brief.body
        yield 4, self.paint.lines("aside", *measured)
        yield 6, self.paint.lines("aside", rest)
        yield 0, self.paint.lines("aside", self._setting())
        yield 9, [""]
        for answer in self.answers:
            if len(answer.comparison.cases) == PAIR and not several:
                yield 5, [*self._chart(answer)]
            elif len(self.answers) <= _TABLES:
                table = [*self._table(answer)]
                legend = legend or bool(table)
                yield 2, table
            if not several:
                yield 0, [*self._latency(answer)]
                yield 6, [*self._labelled("Why", self.brief.why)]
                yield 0, [*self._evidence(answer)]
        if legend:
            yield 7, [self.paint.of("aside", f"{_LEGEND:>{WIDTH}}")]
        yield 8, [""]
        yield from self._rest()

    def _sentence(self, answer: Quoted, *, named: bool) -> Iterator[str]:
        head = answer.head
        sentence = f"{answer.label} {head.sentence}" if named else head.sentence
        yield from self.paint.lines(_MEANINGS.get(head.says, "heading"), sentence)
        if self.brief.sureness:
            yield from self.paint.wrapped(self.brief.sureness)
        if len(self.answers) <= _TABLES:
            yield from self.paint.lines("aside", head.remark, first="  " * named)

    def _setting(self) -> str:
        versions = [*dict.fromkeys(self.brief.software)]
        listed = [readable.listed(versions, 3)] if versions else []
        return " · ".join((self.brief.machine, *listed, self.brief.day))

    def _chart(self, answer: Quoted) -> Iterator[str]:
        head, speed = answer.head, answer.head.speed
        if speed is None or speed.interval is None or head.says == "early":
            return
        axis = RatioAxis.holding(numbers(speed))
        width = min(_BAR, max(11, (self.paint.width or WIDTH) - 6))
        yield f"   {axis.line(numbers(speed), width)}"
        left = f"{_times(1 / axis.top)} {short(head.second)} faster"
        right = f"{short(head.first)} faster {_times(axis.top)}"
        room = width - len(left) - len(right)
        limits = (f"±{100 * axis.limit:.0f} %: too small", f"±{100 * axis.limit:.0f} %", "")
        middle = next(limit for limit in limits if len(limit) + 2 <= room or not limit)
        yield self.paint.of("aside", safe.word(f"   {left}{middle.center(room)}{right}"))

    def _latency(self, answer: Quoted) -> Iterator[str]:
        latency = answer.comparison.latency
        if latency is None or answer.head.unanswered:
            return
        if not latency.servers:
            yield from self._labelled("Latency", f"unknown: {latency.why}")
            return
        head = f"Latency at {readable.amount('requests/s', latency.rate)} each"
        tail = f"p{latency.tail:g} (95 % interval)"
        yield self.paint.of("aside", f"{head:<34}{'p50 (95 % interval)':>20}{tail:>26}")
        for server in latency.servers:
            times = (timed(server.median), timed(server.tail))
            yield safe.word(f"   {short(server.server):<20}{times[0]:>31}{times[1]:>26}")
        if latency.why:
            yield from self.paint.wrapped(in_rounds(f"no p99: {latency.why}"), "   ", "   ")

    def _evidence(self, answer: Quoted) -> Iterator[str]:
        for case in self.summary.cases_of(answer.comparison):
            if case.capacity is not None:
                start = f"   {short(case.case.server):<18}"
                yield from self.paint.wrapped(rate_in_words(case.capacity), start, " " * 21)
            for failed in lost(case)[-1:]:
                end = "".join(last_lines(failed.failure.log)[-1:])
                place = f"trials/{failed.trial:04}/ of the result"
                yield from self._labelled("Its log", f"{end} ({place})" if end else "")
                yield from self._labelled("To mend it", failed.failure.hint or "", "do")

    def _table(self, answer: Quoted) -> Iterator[str]:
        ranked = self.summary.standing(answer.comparison)
        base, rows = self.brief.standings(answer)
        if ranked is None or not rows:
            return
        axis = RatioAxis.holding(end for row in rows for end in numbers(row.speed))
        level = safe.line(ranked.unit) if answer.verdict.rates else ""
        ends = f"{_times(1 / axis.top):<11}1×{_times(axis.top):>10}"
        head = f"rank {answer.label:<17}{level:>11}  {f'× {short(base)} (95 %)':<22}{ends}"
        yield self.paint.of("aside", safe.word(head))
        for row in rows:
            cell = "1" if row.ratio is None else compact(row.ratio)
            bar = axis.line(numbers(row.speed), _SMALL_BAR)
            line = f"{row.ranks:<5}{short(row.server):<17}{row.level:>11}  {cell:<22}{bar}"
            yield safe.word(line)
        for unranked in ranked.left_out:
            start = f"–    {short(unranked.server):<17}  "
            yield from self.paint.wrapped(unranked.why, start, " " * len(start))

    def _rest(self) -> Iterator[Block]:
        if self.report.claims:
            yield 0, [*self._labelled("Claims", claim_states(self.report.claims))]
        if self.report.answers:
            yield 0, [*self._labelled("May I quote it?", self.report.quotable.sentence)]
            yield 0, [*self._caveats()]
        yield 0, [*self._next()]

    def _next(self) -> Iterator[str]:
        """Yield the command that decides what is open or removes a caveat, on its own line."""
        crowded = any(answer.verdict.disturbed for answer in self.answers)
        goal, _, rest = self.report.next_step.rpartition(": benchforge run ")
        command, _, lasts = rest.rpartition(", about ")
        if command:
            head = None if self.brief.alone is None else self.brief.alone.head
            bound = head.bound.removeprefix("at most ") if head and head.says == "open" else ""
            end = f"Stop here if {bound} does not matter to you. " if bound else ""
            end = "Stop other programs. " if crowded else end
            goal = goal.rpartition(". ")[2]  # what goes before it stands beside the caveat
            advised = self.remedy and not self.runs
            later = f"After that, {goal[0].lower()}{goal[1:]}" if advised else goal
            yield from self._labelled("Next", f"{end}{later}, in {lasts}:", "do")
            yield safe.word(f"  benchforge run {command}")
        elif crowded:
            yield from self._labelled("Next", "Stop other programs, and measure again.", "do")
        elif not self.report.next_step and self.runs:
            yield from self._labelled("Next", "To remove this caveat:", "do")
            yield safe.word(f"  {self.remedy}")
        else:
            more = f"benchforge report RESULT --{'why' if self.caveats[1:] else 'open'}"
            open_ = not any(answer.head.unanswered for answer in self.answers)
            yield from self._labelled("Next", (open_ and self.report.next_step) or more, "do")

    def _caveats(self) -> Iterator[str]:
        if not self.caveats:
            yield from self._labelled("Largest caveat", "none was found")
            return
        first, *others = self.caveats
        alone = None if self.brief.alone is None else self.brief.alone.head
        texts = [] if alone is None else [alone.against]
        if alone is not None and alone.unanswered:  # the caveat is the reason that is above
            hinted = any(lost(case) for case in self.summary.cases)
            yield from self._labelled("To mend it", "" if hinted else self.remedy, "do")
            return
        yield from self._labelled("Largest caveat", first.sentence)
        texts.append("" if self.runs else self.remedy)
        more = readable.counted(len(others), "more caveat")
        texts += [f"{more}: benchforge report --why"] if others else []
        advice, start = "; ".join(filter(None, texts)), " " * _LABEL
        yield from self.paint.lines("do", advice and f"→ {advice}", first=start, rest=f"{start}  ")

    def _labelled(self, label: str, text: str, meaning: Meaning = "plain") -> Iterator[str]:
        if text:
            start, rest = label.ljust(_LABEL), " " * _LABEL
            yield from self.paint.begun(("heading", label), meaning, text, start, rest)


def _times(value: float) -> str:
    return f"{readable.figure(value, 2 if value < 1 else 3)}×"
