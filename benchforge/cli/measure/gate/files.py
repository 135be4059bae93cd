"""A gate's outcome: its first screen, all of it as text, Markdown, JUnit's XML, a badge."""

import json
import math
import os
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from benchforge.cli.console.columns import columns
from benchforge.cli.console.named_file import write_file
from benchforge.cli.console.reported import FAILS, NO_ANSWER
from benchforge.cli.measure.gate.outcome import GatedPair, Outcome
from benchforge.cli.measure.gate.verdict import STATES, SpeedVerdict, State
from benchforge.errors import CannotKeep, Unusable
from benchforge.report.answer.ratio import RatioAxis
from benchforge.report.junit_xml import JunitSuite, JunitTest, junit_xml
from benchforge.text import safe
from benchforge.text.readable import change, counted, cut, figure, fitted, listed, percent

_ANSWERS: Final = {FAILS: "FAILED", NO_ANSWER: "UNDECIDED", 0: "PASSED"}
_MOST_LINES: Final = 15
_ROWS: Final = 6
_TITLE: Final = 20  # characters
_BAR: Final = 19
_WIDE: Final = 78
_REASON: Final = 300  # characters of what a server answered
_WORDS: Final[dict[State, str]] = {"invalid": "no number", "base broken": "base is wrong"}


def answer(outcome: Outcome) -> str:
    """Return the answer to the whole gate: the first line of each of its forms."""
    state = outcome.state
    start = _ANSWERS[STATES[state].exit_code]
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
    wrapped = textwrap.TextWrapper(_WIDE, subsequent_indent="  ", max_lines=2, placeholder="…").wrap
    blocks = [(rank, wrapped(f"· {safe.word(note)}")) for rank, note in enumerate(notes, 1)]
    legend = len(blocks) + 1, [*_legend(outcome)]
    return fitted([(0, lines), legend, *blocks, (0, [*_advice(outcome)])], _MOST_LINES)


def _sorted(outcome: Outcome) -> list[GatedPair]:
    """Return the pairs, the worst first: what a waiver allows comes after what fails."""
    order = [*STATES]
    return sorted(
        outcome.questions,
        key=lambda pair: (pair.passes, order.index(pair.verdict.state), pair.verdict.low or 0.0),
    )


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
    axis = _axis(outcome)
    level = f"change, {percent(outcome.level)} interval"
    rows = [["scenario", level, f"slower{'0 %':^{_BAR - 12}}faster", ""]]
    for pair in pairs:
        speed = ends_of(pair.verdict)
        values = [f"{100 * (end - 1):+.1f}".replace("-", "−") for end in speed]
        moved = f"{values[0]} %" if values else "no value"
        moved += f" ({values[1]} to {values[2]})" if values[2:] else ""
        state = "waived" if pair.waiver and pair.passes else pair.verdict.state
        word = _WORDS.get(pair.verdict.state, state) if state != "waived" else state
        rows.append([cut(_name(pair, outcome), _TITLE), moved, axis.line(speed, _BAR), word])
    lines = columns(rows, left_aligned=4)
    yield f"  {lines[0]}"
    for pair, line in zip(pairs, lines[1:], strict=True):
        yield f"  {line}"
        reason = "" if pair.waiver is not None else pair.verdict.why
        if reason or pair.waived:
            yield f"    {cut(safe.word(f'{reason} {pair.waived}'.strip()), _REASON)}"


def _axis(outcome: Outcome) -> RatioAxis:
    ends = (end for pair in outcome.questions for end in ends_of(pair.verdict))
    return RatioAxis.holding(ends, 1 / (1 - outcome.limit) - 1)


def _legend(outcome: Outcome) -> Iterator[str]:
    """Yield what the signs of the rows are, and where their axis ends."""
    if any(ends_of(pair.verdict) for pair in outcome.questions):
        top = _axis(outcome).top
        near, ends = percent(outcome.limit), f"{change(1 / top - 1)} to {change(top - 1)}"
        yield f"  ● the change, ├ ┤ its interval, ▒ less than {near}; the axis: {ends}"


def _quote(outcome: Outcome) -> str:
    decided = [pair for pair in outcome.questions if pair.verdict.state in {"slower", "not slower"}]
    crowded = next((pair.crowded for pair in decided if pair.crowded), "")
    if crowded or not decided:
        return f"No{f': {crowded}' if crowded else ''}."
    some = len(decided) < len(outcome.questions)
    return f"Yes: the change, with its interval{', where it is decided' if some else ''}."


def _advice(outcome: Outcome) -> Iterator[str]:
    """Yield where to look, how to accept it, and how to decide it."""
    if outcome.questions:
        yield f"May I quote it?  {_quote(outcome)}"
    ref = outcome.base.partition(" at ")[0].removeprefix("commit ").partition(" (")[0]
    if outcome.state in {"slower", "broken"} and " older result" not in outcome.base:
        yield f"Where to look    git diff {safe.word(ref)}"
    names = dict.fromkeys(pair.scenario for pair in _sorted(outcome) if not pair.passes)
    if outcome.state == "slower":
        lost = next(pair for pair in _sorted(outcome) if not pair.passes)
        keys = {"scenario": lost.scenario, "server": lost.case.server}
        allowed = ", ".join(f"{key} = {json.dumps(label)}" for key, label in keys.items())
        yield "To accept it     add to `allow` of the suite's table [gate]:"
        yield safe.word(f'  {{ {allowed}, reason = "..." }}')
    elif outcome.state == "undecided":
        yield f"Next             measure {listed(names, 3)} for longer: add --time 15m"
    if outcome.result:
        yield f"Details          benchforge report {outcome.result} --details"


_OLDER = "; its width is that of the older results: use --base, or keep more of them"


def lines(outcome: Outcome) -> Iterator[str]:
    """Yield all that a gate says, a line for each pair and note: the answer first."""
    yield safe.word(answer(outcome))
    for question in outcome.questions:
        state = question.verdict.state
        sign = "~" if question.waiver is not None and state != "broken" else STATES[state].sign
        yield f"  {sign} {safe.word(question.title)}: {verdict_text(question, outcome.limit)}"
        yield from (f"    {safe.word(text)}" for text in question.changed)
    for note in outcome.notes:
        yield f"  · {safe.word(note)}"


def verdict_text(question: GatedPair, limit: float) -> str:
    """Return a verdict in words, with its interval, and its waiver."""
    verdict = question.verdict
    text = _worded(verdict.state, limit)
    if interval := measured(verdict):
        text += f": speed by {question.metric} {interval}"
    if verdict.why:
        text += f": {safe.word(verdict.why)}"
    if verdict.state == "undecided":
        text += "" if verdict.why else ": the interval is too wide"
        text += "; measure for longer with --time" if verdict.counts == "block" else _OLDER
    return f"{text} {safe.word(question.waived)}".rstrip()


def measured(verdict: SpeedVerdict) -> str:
    """Return by how much head is faster, with the interval; empty where it is unknown."""
    match [change(end - 1) for end in ends_of(verdict)]:
        case [value, low, high]:
            return f"{value} ({low} to {high}, {counted(verdict.blocks, verdict.counts)})"
    return ""


def markdown(outcome: Outcome) -> str:
    """Return a comment for a pull request."""
    rows = [
        f"| {safe.markdown(item.title)} | {safe.markdown(_state(item, outcome.limit))} "
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
        hold = f"- Intervals hold for all rows together at {percent(outcome.level)}."
        notes.append(f"{hold} They are about this machine in this run.")
    parts.append("\n".join(notes) + "\n" if notes else "")
    return "\n".join(filter(None, parts))


def _state(question: GatedPair, limit: float) -> str:
    state, reason = question.verdict.state, question.verdict.why
    text = f"{STATES[state].sign} {_worded(state, limit)}{f': {reason}' if reason else ''}"
    return f"{text} {question.waived}".rstrip()


def _worded(state: State, limit: float) -> str:
    return state + f" by more than {percent(limit)}" * (state == "not slower")


def badge_text(outcome: Outcome) -> tuple[str, str]:
    """Return the text of a badge and its colour."""
    if outcome.state == "not slower":
        return f"not slower by {percent(outcome.limit)}", "#2e7d32"
    return outcome.state, "#c62828" if outcome.state in {"slower", "broken"} else "#9a6700"


STEP_SUMMARY: Final = "GITHUB_STEP_SUMMARY"
STEP_OUTPUT: Final = "GITHUB_OUTPUT"
_LABEL: Final = "benchforge gate"
_LETTER = 6.6  # pixels of a letter of 11 pixels, on average
_SVG: Final = """<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" \
aria-label="{label}: {text}">
<title>{label}: {text}</title>
<rect width="{left}" height="20" fill="#555"/>
<rect x="{left}" width="{right}" height="20" fill="{colour}"/>
<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="{left_middle}" y="14">{label}</text>
<text x="{right_middle}" y="14">{text}</text>
</g>
</svg>
"""


def check_badge(badge: Path | None) -> None:
    """Raise Unusable for a badge of another kind."""
    if badge is not None and badge.suffix not in {".svg", ".json"}:
        raise Unusable(f"--badge {badge}: neither .svg nor .json", "end it with .svg or .json")


def write(
    outcome: Outcome, *, comment: Path | None, junit_xml: Path | None, badge: Path | None
) -> None:
    """Write the files that were named, and append to those of a step of GitHub's actions."""
    badge_form = badge_json if badge and badge.suffix == ".json" else badge_svg
    for path, form in ((comment, markdown), (junit_xml, junit), (badge, badge_form)):
        if path is not None:
            write_file(path, form(outcome))
    for variable, text in ((STEP_SUMMARY, markdown), (STEP_OUTPUT, outputs)):
        if named := os.environ.get(variable):
            try:
                with Path(named).open("a", encoding="utf-8") as file:
                    file.write(f"{text(outcome)}\n")
            except OSError as error:
                raise CannotKeep(f"{variable}: {named}: {error.strerror}") from error


def outputs(outcome: Outcome) -> str:
    """Return the outputs of a step: the verdict, and of its pairs the slowest one's ratio."""
    verdicts = [pair.verdict for pair in outcome.questions if pair.verdict.state == outcome.state]
    with_interval = (row for row in verdicts if measured(row))
    row = min(with_interval, key=lambda verdict: verdict.value or 0.0, default=None)
    ratio = f"{row.value:.4f}" if row else ""
    interval = f"{row.low:.4f} to {row.high:.4f}" if row else ""
    page = f"{outcome.result}/report.html" if outcome.result else ""
    return f"verdict={outcome.state}\nratio={ratio}\ninterval={interval}\npage={page}"


def junit(outcome: Outcome) -> str:
    """Return each verdict as a test: slower fails, and no answer is an error."""
    tests = []
    for question in outcome.questions:
        state = question.verdict.state
        element = STATES[state].element
        if element and question.passes:
            element = "skipped"
        says = verdict_text(question, outcome.limit)
        tests.append(JunitTest("benchforge.gate", question.title, says, element, state))
    return junit_xml(_LABEL, [JunitSuite(_LABEL, tests)]).decode()


def badge_json(outcome: Outcome) -> str:
    """Return a badge for an endpoint of shields.io."""
    text, colour = badge_text(outcome)
    endpoint = {"schemaVersion": 1, "label": _LABEL, "message": text, "color": colour}
    return f"{json.dumps(endpoint)}\n"


def badge_svg(outcome: Outcome) -> str:
    """Return the badge as a picture."""
    text, colour = badge_text(outcome)
    label_width, right = (round(len(text_) * _LETTER) + 12 for text_ in (_LABEL, text))
    return _SVG.format(
        width=label_width + right,
        left=label_width,
        right=right,
        left_middle=label_width / 2,
        right_middle=label_width + right / 2,
        label=safe.html(_LABEL),
        text=safe.html(text),
        colour=colour,
    )
