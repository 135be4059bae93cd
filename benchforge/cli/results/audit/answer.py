"""The answer of an audit, in fifteen lines: which rows can stand, and what to publish instead."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from itertools import takewhile

from benchforge.cli.results.audit.audited import MOST_NAMED, WANTED, Audited, Sources
from benchforge.cli.results.audit.documents import conclusion, facts_by, lines_of_kind, wrapped
from benchforge.cli.results.audit.facts import nominal_rate
from benchforge.cli.results.audit.finding import FALSE, Finding, Severity
from benchforge.parts.reader import Fact, Row
from benchforge.text import readable

_MOST_NAMED = 3
_MOST_LINES = 15


def _folder(sources: Collection[str]) -> int:
    """Return the length of the folder that holds all sources, which their names leave out."""
    first, last = min(sources), max(sources)
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    return first[: len(list(alike))].rfind("/") + 1


class AuditAnswer:
    """The answer of an audit, from sources that are added one by one."""

    def __init__(self) -> None:
        self.counts: Counter[Severity] = Counter()
        self.held = self.checked = 0
        self._rows = self._wide = self._doubted = self._moved = self._ranked = 0
        self._readers: set[str] = set()
        self._sources: set[str] = set()
        self._tables: set[str] = set()
        self._times: Counter[tuple[Severity, str]] = Counter()
        self._worst: dict[tuple[Severity, str], tuple[Finding, str]] = {}
        self._false: list[tuple[tuple[int, float], str, str]] = []
        self._instead: list[tuple[float, str, str, str]] = []
        self._first: list[str] = []
        self._noise = [0, 0]
        self._silent: set[str] | None = None
        self._lacks: Counter[str] = Counter()

    def add(self, audit: Audited) -> None:
        """Add a source. Nothing of it is kept but what the answer prints."""
        names = {row.name for row in audit.rows}
        worst: dict[str, Finding] = {}
        better: dict[str, float] = {}
        for finding in audit.findings:
            self.counts[finding.severity] += 1
            self._noise = [sum(pair) for pair in zip(self._noise, finding.ranks, strict=True)]
            kind = finding.severity, finding.code
            self._times[kind] += 1
            if kind not in self._worst or finding.order < self._worst[kind][0].order:
                self._worst[kind] = finding, audit.source
            self._wide += finding.severity in FALSE and finding.row not in names
            if finding.row not in worst or finding.order < worst[finding.row].order:
                worst[finding.row] = finding
            if finding.instead >= 0:
                better[finding.row] = finding.instead
        self._rows += len(audit.rows)
        self._readers.add(audit.reader)
        self._sources.add(audit.source)
        self.held += audit.held.total()
        self.checked += audit.checked
        severities = [worst[name].severity for name in names & worst.keys()]
        self._doubted += severities.count("unsupported")
        false = {name for name in names & worst.keys() if worst[name].severity in FALSE}
        self._false += [(worst[name].order, name, audit.source) for name in false]
        for row in audit.rows:
            if row.name in better and (rate := nominal_rate(row)):
                numbers = f"{readable.exact(better[row.name])}/s, not {readable.exact(rate)}/s"
                factor = max(rate, better[row.name]) / max(min(rate, better[row.name]), 1e-9)
                self._instead.append((-factor, numbers, row.name, audit.source))
        impossible = {name for name in false if worst[name].severity == "impossible"}
        self._rank(audit.rows, impossible, better)
        lacks = audit.not_asked
        self._silent = lacks.keys() & (lacks.keys() if self._silent is None else self._silent)
        for name in WANTED:
            self._lacks[name] += max((rows[name] for rows in audit.silent.values()), default=0)

    def _rank(self, rows: list[Row], false: set[str], better: Mapping[str, float]) -> None:
        tables: defaultdict[str, dict[str, float]] = defaultdict(dict)
        for row in rows:
            if row.table and "total" not in row.facts and (rate := nominal_rate(row)):
                tables[row.table][row.name] = rate
        for name, rates in tables.items():
            right = {row: better.get(row, rate) for row, rate in rates.items() if row not in false}
            stated = sorted(rates, key=rates.__getitem__, reverse=True)
            really = sorted(right, key=right.__getitem__, reverse=True)
            place = {row: rank for rank, row in enumerate(really)}
            if len(rates) > 1:
                self._tables.add(name)
                self._ranked += len(rates)
                self._moved += sum(place.get(row) != rank for rank, row in enumerate(stated))
                if really and really[0] != stated[0]:
                    self._first.append(f"{really[0]}, not {stated[0]}, of {name}")

    def text(self, sources: Sources, stated: Mapping[str, Fact]) -> str:
        """Return the answer: the rows that can stand, the worst findings, and what follows."""
        standing, *last = self.sentences(sources, stated)
        folder = _folder(self._sources)
        several = len(self._sources) > 1
        worst = sorted(self._worst.items(), key=lambda item: item[1][0].order)
        blocks = [
            lines_of_kind([finding], self._times[kind], f"{source[folder:]}: " * several)
            for kind, (finding, source) in worst
        ]
        # The worst finding counts more than what was not asked or passed over.
        minor = [text for text in last if text.startswith(("Not asked: ", "Passed over: "))]
        while minor and len(self._lines(standing, blocks[:1], last)) > _MOST_LINES:
            last.remove(minor.pop())
        while blocks and len(self._lines(standing, blocks, last)) > _MOST_LINES:
            blocks.pop()
        return "\n".join(self._lines(standing, blocks, last)[:_MOST_LINES])

    def _lines(self, standing: str, blocks: list[list[str]], last: list[str]) -> list[str]:
        more = self.counts.total() - len(blocks)
        rest = [f"{readable.counted(more, 'more finding')}: --details prints them"] * (more > 0)
        return [
            *wrapped(standing, ""),
            *(line for block in blocks for line in block),
            *(line for sentence in (*last, *rest) for line in wrapped(sentence, "")),
        ]

    def sentences(self, sources: Sources, stated: Mapping[str, Fact]) -> list[str]:
        """Return which rows can stand, the consequence, and the facts behind the answer."""
        last = [*facts_by("you", stated), conclusion(self.counts, self.held)]
        return [self._standing(), *self._consequences(sources), *last]

    def _standing(self) -> str:
        several = len(self._sources) > 1
        false = [self._named(*row) for _, *row in sorted(self._false)]
        wide = f", beside {readable.counted(self._wide, 'finding')} about many rows"
        wide *= bool(self._wide)
        of_these = "of them" if false else "rows"
        doubted = f" ({self._doubted:,} {of_these} unsupported)" * bool(self._doubted)
        sources = readable.counted(len(self._sources), "source")
        name = sources if several else next(iter(self._sources))
        tools = readable.conjoined(sorted(self._readers))
        read = f"{name}: {tools}, {readable.counted(self._rows, 'row')}."
        if not false:
            return f"{read} No row contradicts itself{doubted}{wide}."
        names = readable.listed(false, _MOST_NAMED)
        good = f"{self._rows - len(false):,} can stand{doubted}{wide}."
        return f"{read} {good} Withdraw or correct {names}."

    def _named(self, row: str, source: str) -> str:
        return row + f" of {source[_folder(self._sources) :]}" * (len(self._sources) > 1)

    def _consequences(self, sources: Sources) -> Iterator[str]:
        if self._instead:
            rates = [f"{text} ({self._named(*row)})" for _, text, *row in sorted(self._instead)]
            yield f"Publish instead: {readable.listed(rates, _MOST_NAMED)}."
        if ranks := [*self._ranks()]:
            several = readable.counted(len(self._tables), "table")
            name = next(iter(self._tables)) if len(self._tables) == 1 else several
            yield f"Ranks of {name}: {'; '.join(ranks)}."
        if sources.unread:
            count = readable.counted(len(sources.unread), "result")
            yield f"Not read: {count}, named above with the reasons."
        if sources.passed:
            where = "--json names them" if len(sources.passed) > MOST_NAMED else "named above"
            yield f"Passed over: {len(sources.passed):,}, {where} with the reasons."
        if self._silent:
            words = [
                f"{name} ({WANTED[name]}, {readable.counted(self._lacks[name], 'row')})"
                for name in WANTED
                if self._lacks[name]
            ]
            reason = f" for want of facts such as {readable.conjoined(words)}" if words else ""
            count = readable.counted(len(self._silent), "check")
            yield f"Not asked: {count}{reason}; --json lists them."

    def _ranks(self) -> Iterator[str]:
        if self._moved:
            first = f"; the first is {readable.listed(self._first, 1)}" if self._first else ""
            yield f"{self._moved:,} of {self._ranked:,} rows move{first}"
        inside, pairs = self._noise
        if pairs:
            yield f"{inside:,} of {pairs:,} neighbours are within noise"
        elif ("unknown", "AN2") in self._worst:
            yield "which are noise is unknown, since each row has one number"
