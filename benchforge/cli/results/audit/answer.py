"""The answer of an audit, in fifteen lines: which rows can stand, and what to publish instead."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from benchforge.cli.results.audit.audited import WANTED, Audited
from benchforge.cli.results.audit.facts import nominal_rate
from benchforge.cli.results.audit.finding import FALSE
from benchforge.parts.reader import Row
from benchforge.text import readable

_MOST_NAMED = 3


def standing(audits: Sequence[Audited]) -> str:
    """Return how many rows can stand, and which cannot."""
    total = sum(len(audit.rows) for audit in audits)
    false = [
        f"{name} of {audit.source}" if len(audits) > 1 else name
        for audit in audits
        for name in _withdrawn(audit)
    ]
    wide = sum(
        finding.severity in FALSE and finding.row not in {row.name for row in audit.rows}
        for audit in audits
        for finding in audit.findings
    )
    fields = f", beside {readable.counted(wide, 'finding')} about many rows" if wide else ""
    tools = readable.conjoined(sorted({audit.reader for audit in audits}))
    sources = {audit.source for audit in audits}
    name = audits[0].source if len(sources) == 1 else readable.counted(len(sources), "source")
    read = f"{name}: {tools}, {readable.counted(total, 'row')}."
    if not false:
        return f"{read} No row contradicts itself{fields}."
    names = readable.listed(false, _MOST_NAMED)
    return f"{read} {total - len(false):,} can stand{fields}. Withdraw {names}."


def consequences(audits: Sequence[Audited]) -> Iterator[str]:
    """Yield what to publish instead, what becomes of ranks, and what was not read or asked."""
    rates = [text for audit in audits for text in _instead(audit)]
    if rates:
        yield f"Publish instead: {readable.listed(rates, _MOST_NAMED)}."
    for audit in audits:
        yield from _ranks(audit)
    if count := sum(len(audit.unread) for audit in audits):
        yield f"Not read: {readable.counted(count, 'result')}, named above with the reasons."
    everywhere = set.intersection(*(set(audit.not_asked) for audit in audits))
    silent = {code: audit.not_asked[code] for audit in audits for code in everywhere}
    if silent:
        lacks: Counter[str] = Counter(name for names in silent.values() for name in names)
        options = {name.removesuffix("_asked") for name in lacks} & WANTED.keys()
        words = [f"{name} ({WANTED[name]})" for name in WANTED if name in options]
        reason = f" for want of facts such as {readable.conjoined(words)}" if words else ""
        yield f"Not asked: {readable.counted(len(silent), 'check')}{reason}; --json lists them."


def _withdrawn(audit: Audited) -> list[str]:
    names = {finding.row for finding in audit.findings if finding.severity in FALSE}
    return [row.name for row in audit.rows if row.name in names]


def _better(audit: Audited) -> dict[str, float]:
    return {finding.row: finding.instead for finding in audit.findings if finding.instead >= 0}


def _instead(audit: Audited) -> Iterator[str]:
    better = _better(audit)
    for row in audit.rows:
        if row.name in better:
            rates = (readable.exact(better[row.name]), readable.exact(nominal_rate(row)))
            yield f"{rates[0]}/s, not {rates[1]}/s ({row.name})"


def _ranks(audit: Audited) -> Iterator[str]:
    false, better = set(_withdrawn(audit)), _better(audit)
    tables: defaultdict[str, list[Row]] = defaultdict(list)
    for row in audit.rows:
        if row.table and nominal_rate(row) and "total" not in row.facts:
            tables[row.table].append(row)
    for name, rows in tables.items():
        rates = {row.name: nominal_rate(row) for row in rows}
        right = {row: better.get(row, rate) for row, rate in rates.items() if row not in false}
        stated, really = (
            sorted(each, key=each.__getitem__, reverse=True) for each in (rates, right)
        )
        moved = sum(
            row not in really or really.index(row) != rank for rank, row in enumerate(stated)
        )
        if len(rates) > 1 and moved:
            first = f"; the first is {really[0]}" if really and really[0] != stated[0] else ""
            yield f"Ranks of {name}: {moved:,} of {len(rates):,} rows move{first}."
