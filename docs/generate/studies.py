"""Write docs/studies.md from results of the suites that repeat published studies.

`python -m docs.generate.studies RESULT...`: a folder for each suite, with `--profile claims`.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchforge_reporters.document.claims import ClaimLine, claim_lines

from benchforge.errors import BenchforgeError, Unusable
from benchforge.model.files.folder import read_header, read_summary
from benchforge.model.files.result import Header
from benchforge.model.summary.summary import Summary
from benchforge.model.summary.verdict import Objection, Verdict
from docs.generate.text import page_of, plain, table

PAGE = Path(__file__).parents[1] / "studies.md"
NOTE = "<!-- Written by `make studies` from its results. -->\n\n"
_STATES = ("holds", "fails", "inconclusive", "invalid")
_HEADS = ("claim", "holds if", "published", "here", "verdict", "what checks say", "the source")
_ABOUT = """\
Five published comparisons, sixty claims, asked again on one machine. `published` is what the
source's own tables say, the first side by the second; `here` is what was measured, with its
interval of 95 %. A claim is asked as it was published, faults included; where those decided, it
is asked once more as `..._corrected`, and `..._text` is what a source's text says beside its
table. `..._equal` asks whether both sides are the same, where a ratio is near 1. *In turns* says
that the sides [alternated](explanation/turns.md) many times a second. What holds here holds for
these programs on this machine; what does not is no proof
against a measurement of ten years ago. [What a verdict means](claims.md).
"""


def page(folders: Iterable[Path]) -> str:
    """Return the page of these results, in their order.

    Raises Unusable for one without a verdict, and what reading a result raises.
    """
    found = [_read(folder) for folder in folders]
    asked = [one for _, summary in found for one in claim_lines(summary)]
    return page_of(
        "Five studies, measured again",
        _ABOUT.strip(),
        table(("claims", *_STATES), _tally(asked)),
        _unanswered(asked),
        *(part for header, summary in found for part in _study(header, summary)),
    )


def _read(folder: Path) -> tuple[Header, Summary]:
    summary = read_summary(folder)
    if not summary.verdicts:
        hint = "measure its suite with --profile claims; a smoke is not judged"
        raise Unusable(f"{folder}: it has no verdicts", hint)
    return read_header(folder), summary


def _tally(asked: Sequence[ClaimLine]) -> Iterator[tuple[str, ...]]:
    """Yield how many of the claims have which answer: those as published, then the others."""
    published = [one.verdict for one in asked if "_" not in one.claim.label]
    others = [one.verdict for one in asked if "_" in one.claim.label]
    for name, verdicts in (("as published", published), ("corrected", others)):
        states = Counter[str](one.state for one in verdicts)
        yield (f"{name}: {len(verdicts)}", *(str(states[state]) for state in _STATES))


def _unanswered(asked: Sequence[ClaimLine]) -> str:
    """Return which published claims have no answer, and which have one as `..._equal` only."""
    decided = {one.claim.label for one in asked if one.verdict.state in {"holds", "fails"}}
    alike = {
        label.partition("_")[0]
        for label in decided
        if label.endswith("_equal") and "_corrected" not in label
    }
    published = [one.claim.label for one in asked if "_" not in one.claim.label]
    left = [label for label in published if label not in decided]
    as_equal = [label for label in left if label in alike]
    without = [label for label in left if label not in alike]
    return (
        f"Answered only by `..._equal`: {', '.join(as_equal) or 'none'}. "
        f"Without an answer: {', '.join(without) or 'none'}."
    )


def _study(header: Header, summary: Summary) -> Iterator[str]:
    yield f"## {plain(summary.title or summary.name)}"
    blocks = max(one.block for one in header.plan)
    cpu = summary.facts.get("cpu") or "a CPU that is not known"
    on = f"{cpu}, {summary.facts.get('cpus_usable', 'unknown')} CPUs usable"
    profile = f" --profile {summary.profile}" if summary.profile else ""
    whole = "" if summary.complete else " Not complete: some measurements have no trial."
    yield plain(
        f"`{summary.name}`{profile}, {len(summary.cases)} cases, {blocks} blocks, "
        f"{summary.created:%Y-%m-%d}, benchforge {summary.benchforge}, on {on}.{whole}"
    )
    yield table(_HEADS, (_row(one) for one in claim_lines(summary)))


def _row(one: ClaimLine) -> tuple[str, ...]:
    says = f"{one.name}: {one.claim.says}" if one.claim.says else one.name
    here = f"in turns: {one.estimate}" if "in turns" in one.verdict.limitations else one.estimate
    return (
        plain(says),
        f"`{one.claim.hypothesis.text}`",
        one.published,
        plain(here),
        _state(one.verdict),
        plain("; ".join(_fired(one.verdict.objections))),
        plain(one.claim.original),
    )


def _state(verdict: Verdict) -> str:
    """Return the answer, with the reason where there is one that the estimate does not tell."""
    fragile = ", fragile" if verdict.fragile else ""
    why = f": {plain(verdict.why)}" if verdict.why and verdict.estimate.value is not None else ""
    return f"**{verdict.state}**{fragile}{why}"


def _fired(against: Iterable[Objection]) -> Iterator[str]:
    """Yield each check that speaks against a verdict, once, with the side that it is about."""
    sides: dict[tuple[str, str, str], dict[str, None]] = {}
    for one in against:
        check = one.check
        if check.status in {"fail", "warn"}:
            sides.setdefault((check.status, check.id, check.name), {})[one.side] = None
    for (status, id_, name), of in sides.items():
        which = " and ".join(side for side in of if side)
        yield f"{status} {id_} {name}" + (f" ({which})" if which else "")


def main() -> int:
    """Write the page; return the exit code."""
    if not sys.argv[1:]:
        sys.stderr.write(f"{__doc__}\n")
        return Unusable.exit_code
    try:
        text = page(map(Path, sys.argv[1:]))
    except BenchforgeError as error:
        sys.stderr.write(f"{error.text()}\n")
        return error.exit_code
    PAGE.write_text(NOTE + text.rstrip() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
