"""An audit as text for a terminal."""

import textwrap
from collections.abc import Iterator

from benchforge.cli.results.audit.document import sentences
from benchforge.report.document import Document, Section
from benchforge.text import readable, safe

WIDTH = 88
_OF_A_KIND = 3


def text(document: Document, *, everything: bool) -> str:
    """Return the findings of all sources, the worst first, and what was checked."""
    conclusion, *facts = document.sentences
    blocks = [
        block
        for section in document.sections
        for block in _of_source(section, None if everything else _OF_A_KIND)
    ]
    blocks += [fact.replace("by the auditor", "by you", 1) for fact in facts]
    return "\n\n".join([*blocks, "\n".join(_wrapped(conclusion, ""))])


def _of_source(section: Section, most: int | None) -> Iterator[str]:
    yield f"{safe.line(section.title)}: {section.about}"
    for findings in section.findings:
        count = len(findings.rows)
        times = f", {count} times" if count > 1 else ""
        lines = _wrapped(f"{findings.word}{times}: {findings.title} [{findings.code}]", "")
        for row in findings.rows[:most]:
            lines += _wrapped(row[0], "  ")
            lines += [line for sentence in sentences(row) for line in _wrapped(sentence, "    ")]
        if most is not None and count > most:
            lines.append(f"  and {readable.exact(count - most)} more: --all prints them")
        yield "\n".join(lines)


def _wrapped(line: str, indent: str) -> list[str]:
    below = f"{indent}  " if indent else ""
    return textwrap.wrap(safe.line(line), WIDTH, initial_indent=indent, subsequent_indent=below)
