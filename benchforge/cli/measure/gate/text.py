"""A gate's outcome in words: for a terminal, as Markdown, and the text of a badge."""

import math
from collections.abc import Iterator, Mapping
from typing import Final

from benchforge.cli.measure.gate.outcome import GatedPair, Outcome
from benchforge.cli.measure.gate.verdict import SpeedVerdict, State
from benchforge.text import safe
from benchforge.text.readable import change, counted, percent

_OLDER = "; its width is that of the older results: use --base, or keep more of them"
_SIGNS: Final[Mapping[State, str]] = {
    "not slower": "✔",
    "slower": "✘",
    "undecided": "?",
    "invalid": "!",
    "broken": "✘",
    "base broken": "!",
}
_MOST = 300  # characters of a wrong answer in the first line


def lines(outcome: Outcome) -> Iterator[str]:
    """Yield the lines for a terminal: the answer first."""
    yield answer(outcome)
    for question in outcome.questions:
        state = question.verdict.state
        sign = "~" if question.waiver is not None and state != "broken" else _SIGNS[state]
        yield f"  {sign} {safe.word(question.title)}: {verdict_text(question, outcome.limit)}"
        yield from (f"    {safe.word(text)}" for text in question.changed)
    for note in outcome.notes:
        yield f"  · {safe.word(note)}"


def answer(outcome: Outcome) -> str:
    """Return the answer to the whole gate in a sentence."""
    compared = f"{outcome.head} against {outcome.base}"
    if outcome.same:
        return f"NOT SLOWER: {compared}: the same code and packages, nothing was measured"
    if not outcome.questions:
        return f"INVALID: {compared}: nothing can be compared"
    waived = sum(item.waiver is not None for item in outcome.questions)
    rest = f" by more than {percent(outcome.limit)}" if outcome.state == "not slower" else ""
    also = f"; {counted(waived, 'waiver')}" if waived else ""
    if outcome.state in {"broken", "base broken"}:
        first = next(pair for pair in outcome.questions if pair.verdict.state == outcome.state)
        rest = f": {safe.word(first.verdict.why[:_MOST])}"
        also += "" if outcome.state == "broken" else "; the working tree answers rightly"
    return f"{outcome.state.upper()}{rest}: {compared}{also}"


def verdict_text(question: GatedPair, limit: float) -> str:
    """Return a verdict in words, with its interval, and its waiver."""
    verdict = question.verdict
    text: str = verdict.state
    if text == "not slower":
        text = f"not slower by more than {percent(limit)}"
    if interval := measured(verdict):
        text += f": speed by {question.metric} {interval}"
    if verdict.why:
        text += f": {safe.word(verdict.why)}"
    if verdict.state == "undecided":
        text += "" if verdict.why else ": the interval is too wide"
        text += "; measure for longer with --time" if verdict.counts == "block" else _OLDER
    return text + waived(question)


def waived(question: GatedPair) -> str:
    """Return what a waiver says; empty without one."""
    if question.waiver is not None:
        until = f", until {question.waiver.until}" if question.waiver.until else ""
        return f" (waived: {safe.word(question.waiver.reason)}{until})"
    if question.expired is not None:
        return f" (its waiver ended on {question.expired.until})"
    return ""


def measured(verdict: SpeedVerdict) -> str:
    """Return by how much head is faster, with the interval; empty where it is unknown."""
    if verdict.value is None or verdict.low is None or verdict.high is None:
        return ""
    if not all(map(math.isfinite, (verdict.value, verdict.low, verdict.high))):
        return ""
    low, high = change(verdict.low - 1), change(verdict.high - 1)
    return (
        f"{change(verdict.value - 1)} ({low} to {high}, {counted(verdict.blocks, verdict.counts)})"
    )


def markdown(outcome: Outcome) -> str:
    """Return a comment for a pull request."""
    rows = [
        f"| {safe.markdown(item.title)} | {_state(item, outcome.limit)} "
        f"| {measured(item.verdict)}, by {safe.markdown(item.metric)} |"
        for item in outcome.questions
    ]
    parts = [f"### benchforge gate\n\n**{safe.markdown(answer(outcome))}**\n"]
    if rows:
        head = "| scenario · server · load | verdict | change of speed |\n|---|---|---|\n"
        parts.append(head + "\n".join(rows) + "\n")
    changed = (f"{pair.title}: {text}" for pair in outcome.questions for text in pair.changed)
    notes = [f"- {safe.markdown(note)}" for note in (*changed, *outcome.notes)]
    if outcome.questions:
        notes.append(
            f"- Intervals hold for all rows together at {percent(outcome.level)}. They are about "
            "this machine in this run."
        )
    parts.append("\n".join(notes) + "\n" if notes else "")
    return "\n".join(filter(None, parts))


def _state(question: GatedPair, limit: float) -> str:
    verdict = question.verdict
    state: str = verdict.state
    if state == "not slower":
        state = f"not slower by more than {percent(limit)}"
    why = f": {verdict.why}" if verdict.why else ""
    return safe.markdown(f"{_SIGNS[verdict.state]} {state}{why}{waived(question)}")


def badge_text(outcome: Outcome) -> tuple[str, str]:
    """Return the text of a badge and its colour."""
    if outcome.state == "not slower":
        return f"not slower by {percent(outcome.limit)}", "#2e7d32"
    return outcome.state, "#c62828" if outcome.state in {"slower", "broken"} else "#9a6700"
