"""An audit as text for a terminal."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from benchforge.cli.results.audit.audited import Audited
from benchforge.cli.results.audit.finding import Finding
from benchforge.cli.results.audit.kinds import conclusion, facts_by, kinds, sentences
from benchforge.parts.reader import Fact
from benchforge.text import readable, safe

WIDTH = 88
_OF_A_KIND = 3


def text(audits: Sequence[Audited], given: Mapping[str, Fact], *, everything: bool) -> str:
    """Return the findings of all sources, the worst first, and what was checked."""
    blocks = [block for audit in audits for block in _of_source(audit, everything=everything)]
    blocks += [facts_by("you", given)] if given else []
    blocks.append("\n".join(textwrap.wrap(conclusion(audits), WIDTH)))
    return "\n\n".join(blocks)


def _of_source(audit: Audited, *, everything: bool) -> Iterator[str]:
    rows = readable.counted(len(audit.rows), "row")
    yield f"{safe.line(audit.source)}: {audit.reader}, {rows}"
    for kind in kinds(audit):
        times = f", {len(kind.findings)} times" if len(kind.findings) > 1 else ""
        head = f"{kind.severity}{times}: {kind.title} [{kind.code}]"
        most = len(kind.findings) if everything else _OF_A_KIND
        lines = textwrap.wrap(safe.line(head), WIDTH)
        for finding in kind.findings[:most]:
            lines += _lines(finding)
        if (more := len(kind.findings) - most) > 0:
            lines.append(f"  and {readable.exact(more)} more: --all prints them")
        yield "\n".join(lines)


def _lines(finding: Finding) -> list[str]:
    where = ", ".join(entry for entry in (finding.row, finding.where) if entry)
    lines = textwrap.wrap(
        safe.line(where), WIDTH - 2, initial_indent="  ", subsequent_indent="    "
    )
    for sentence in sentences(finding):
        lines += textwrap.wrap(
            safe.line(sentence), WIDTH, initial_indent="    ", subsequent_indent="      "
        )
    return lines
