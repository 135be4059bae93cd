"""First screen of a gate: passed, failed or undecided, each pair in a row, and what is next."""

import math
import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from benchforge.cli.console.columns import columns
from benchforge.cli.measure.gate.outcome import GatedPair, Outcome
from benchforge.cli.measure.gate.verdict import STATES, SpeedVerdict, State
from benchforge.report.answer.ratio import RatioAxis
from benchforge.text import safe
from benchforge.text.readable import counted, cut, figure, fitted, listed, percent

_ANSWERS: Final[dict[State, str]] = {
    "broken": "FAILED",
    "slower": "FAILED",
    "invalid": "UNDECIDED",
    "undecided": "UNDECIDED",
    "base broken": "PASSED",
    "not slower": "PASSED",
}
_MOST_LINES: Final = 15
_ROWS: Final = 6
_TITLE: Final = 20  # characters
_BAR: Final = 19
_WIDE: Final = 78
_REASON: Final = 300  # characters of what a server answered
_WORDS: Final[dict[State, str]] = {"invalid": "no number", "base broken": "base is wrong"}


def answer(outcome: Outcome) -> str:
    """Return the answer to the whole gate: the first line of each of its forms."""
    start, state = _ANSWERS[outcome.state], outcome.state
    if outcome.same:
        return f"{start}: the same code and packages as {outcome.base}, so nothing was measured"
    if not outcome.questions:
        return f"{start}: nothing can be compared"
    worst = next((pair for pair in _sorted(outcome) if pair.verdict.state == state), None)
    if worst is None or state == "not slower":
        total = len(outcome.questions)
        good = sum(pair.verdict.state == "not slower" for pair in outcome.questions)
        limit = f"slower by more than {percent(outcome.limit)}"
        if good == total:
            return f"{start}: nothing is {limit}"
        return f"{start}: {good} of {total} are not {limit}; what the suite allows passes"
    also = "" if outcome.exit_code or state != "undecided" else "; it passes: --undecided pass"
    return f"{start}: {_name(worst, outcome)} {_finding(worst, outcome.limit)}{also}"


def _finding(pair: GatedPair, limit: float) -> str:
    """Return the finding on a pair, in a sentence."""
    verdict, by = pair.verdict, f" by {pair.metric}"
    fixed: dict[State, str] = {
        "broken": "answers wrongly",
        "base broken": "answers rightly, and its base does not: no speed is compared",
        "invalid": "has no number that can be used",
    }
    if verdict.state in fixed:
        return fixed[verdict.state]
    if verdict.state == "slower":
        return f"is {_loss(verdict.value)} slower{by}; the limit is {percent(limit)}"
    if verdict.low is None or not math.isfinite(verdict.low):
        return "has too few rounds for an interval"
    return f"may have lost up to {_loss(verdict.low)}; the limit is {percent(limit)}"


def first_screen(outcome: Outcome) -> list[str]:
    """Return the answer, each pair, and what to do; and notes, where 15 lines have room."""
    lines = [safe.word(answer(outcome))]
    rounds = sorted({pair.verdict.blocks for pair in outcome.questions if pair.verdict.blocks})
    if rounds:
        counts = outcome.questions[0].verdict.counts.replace("block", "round")
        number = counted(rounds[-1], counts)
        turns = ", alternated" if any(pair.in_turns for pair in outcome.questions) else ""
        lines.append(safe.word(f"{outcome.head} against {outcome.base} · {number}{turns}"))
    pairs = _sorted(outcome)
    lines += _rows(outcome, pairs[:_ROWS])
    if len(pairs) > _ROWS:
        lines.append(f"  and {counted(len(pairs) - _ROWS, 'more row')}: --details")
    changed = [(_name(pair, outcome), text) for pair in outcome.questions for text in pair.changed]
    notes = (*(f"{name}: {text}" for name, text in changed), *outcome.notes)
    blocks = [(rank, _note(note)) for rank, note in enumerate(notes, 1)]
    return fitted([(0, lines), *blocks, (0, [*_advice(outcome)])], _MOST_LINES)


def _sorted(outcome: Outcome) -> list[GatedPair]:
    """Return the pairs, the worst first: what a waiver allows comes after what fails."""
    order = [*STATES]

    def key(pair: GatedPair) -> tuple[bool, int, float]:
        return pair.passes, order.index(pair.verdict.state), pair.verdict.low or 0.0

    return sorted(outcome.questions, key=key)


def _name(pair: GatedPair, outcome: Outcome) -> str:
    """Return the shortest name that tells the pair from others."""
    others = [_names(other) for other in outcome.questions]
    for number, name in enumerate(_names(pair)):
        if sum(names[number] == name for names in others) == 1:
            return f"[{name}]"
    return f"[{pair.title}]"


def _names(pair: GatedPair) -> tuple[str, str]:
    return pair.scenario, f"{pair.scenario} · {pair.case.server}"


def _loss(speed: float | None) -> str:
    return f"{figure(100 * (1 - (speed or 0.0)), 2)} %"


def ends_of(verdict: SpeedVerdict) -> tuple[float, ...]:
    """Return the speed and the ends of its interval; fewer where it has none."""
    ends = verdict.value, verdict.low, verdict.high
    return tuple(end for end in ends if end is not None and math.isfinite(end) and end > 0)


def _rows(outcome: Outcome, pairs: Sequence[GatedPair]) -> Iterator[str]:
    """Yield a row for each pair, and below it why it has no answer."""
    if not pairs:
        return
    ends = (end for pair in outcome.questions for end in ends_of(pair.verdict))
    axis = RatioAxis.holding(ends, 1 / (1 - outcome.limit) - 1)
    level = f"change, {percent(outcome.level)} interval"
    rows = [["scenario", level, f"slower{'1':^{_BAR - 12}}faster", ""]]
    for pair in pairs:
        speed = ends_of(pair.verdict)
        values = [f"{100 * (end - 1):+.1f}".replace("-", "−") for end in speed]
        change = f"{values[0]} %" if values else "no value"
        change += f" ({values[1]} to {values[2]})" if values[2:] else ""
        state = "waived" if pair.waiver and pair.passes else pair.verdict.state
        word = _WORDS.get(pair.verdict.state, state) if state != "waived" else state
        rows.append([cut(_name(pair, outcome), _TITLE), change, axis.line(speed, _BAR), word])
    lines = columns(rows, left_aligned=4)
    yield f"  {lines[0]}"
    for pair, line in zip(pairs, lines[1:], strict=True):
        yield f"  {line}"
        reason = "" if pair.waiver is not None else pair.verdict.why
        if reason or pair.waived:
            yield f"    {cut(safe.word(f'{reason} {pair.waived}'.strip()), _REASON)}"


def _note(text: str) -> list[str]:
    text = f"· {safe.word(text)}"
    return textwrap.wrap(text, _WIDE, subsequent_indent="  ", max_lines=2, placeholder="…")


def _advice(outcome: Outcome) -> Iterator[str]:
    """Yield where to look, how to accept it, and how to decide it."""
    ref = outcome.base.partition(" at ")[0].removeprefix("commit ").partition(" (")[0]
    if outcome.state in {"slower", "broken"} and " older result" not in outcome.base:
        yield f"Where to look    git diff {safe.word(ref)}"
    names = dict.fromkeys(pair.scenario for pair in _sorted(outcome) if not pair.passes)
    if outcome.state == "slower":
        allowed = f'{{ scenario = "{safe.word(next(iter(names)))}", reason = "..." }}'
        yield f"To accept it     in the suite: [gate] allow = [{allowed}]"
    elif outcome.state == "undecided":
        yield f"Next             measure {listed(names, 3)} for longer: add --time 15m"
    if outcome.result:
        yield f"Details          benchforge report {outcome.result} --details"
