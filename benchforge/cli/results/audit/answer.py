"""The answer of an audit, in fifteen lines: which rows can stand, and what to publish instead."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from benchforge.cli.results.audit.audited import WANTED, Audited, Sources
from benchforge.cli.results.audit.documents import conclusion, facts_by, lines_of_kind, wrapped
from benchforge.cli.results.audit.facts import nominal_rate
from benchforge.cli.results.audit.finding import FALSE, Finding, Severity
from benchforge.parts.reader import Fact, Row
from benchforge.text import readable

_MOST_NAMED = 3
_MOST_LINES = 15


class _Kind(NamedTuple):
    """The findings of a check: their number, and the worst one with its source."""

    times: int
    source: str
    worst: Finding


class Answer:
    """What the sources come to, each added once it is read."""

    def __init__(self) -> None:
        self.counts: Counter[Severity] = Counter()
        self.held = self.checked = 0
        self._rows = self._wide = self._doubted = self._moved = self._ranked = 0
        self._readers: set[str] = set()
        self._sources: set[str] = set()
        self._tables: set[str] = set()
        self._kinds: dict[tuple[Severity, str], _Kind] = {}
        self._false: list[tuple[tuple[int, float], str, str]] = []
        self._instead: list[tuple[float, str]] = []
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
            kind = self._kinds.get((finding.severity, finding.code))
            if kind is None or finding.order < kind.worst.order:
                kind = _Kind(kind.times if kind else 0, audit.source, finding)
            self._kinds[finding.severity, finding.code] = kind._replace(times=kind.times + 1)
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
                self._instead.append((-factor, f"{numbers} ({row.name})"))
        self._rank(audit.rows, false, better)
        lacks = audit.not_asked
        self._silent = lacks.keys() & (lacks.keys() if self._silent is None else self._silent)
        rows = [Counter(dict.fromkeys(names, 0)) | names for names in audit.silent.values()]
        for name in WANTED:
            self._lacks[name] += max((names[name] for names in rows), default=0)

    def _rank(self, rows: list[Row], false: set[str], better: Mapping[str, float]) -> None:
        tables: defaultdict[str, dict[str, float]] = defaultdict(dict)
        for row in rows:
            if row.table and "total" not in row.facts and (rate := nominal_rate(row)):
                tables[row.table][row.name] = rate
        for name, rates in tables.items():
            right = {row: better.get(row, rate) for row, rate in rates.items() if row not in false}
            stated, really = (
                sorted(each, key=each.__getitem__, reverse=True) for each in (rates, right)
            )
            place = {row: rank for rank, row in enumerate(really)}
            moved = sum(place.get(row) != rank for rank, row in enumerate(stated))
            if len(rates) > 1:
                self._tables.add(name)
                self._ranked += len(rates)
                self._moved += moved
            if len(rates) > 1 and really and really[0] != stated[0]:
                self._first.append(f"{really[0]}, not {stated[0]}")

    def text(self, sources: Sources, stated: Mapping[str, Fact]) -> str:
        """Return the answer: the rows that can stand, the worst findings, and what follows."""
        standing, *last = self.sentences(sources, stated)
        first = wrapped(standing, "")
        end = [line for sentence in last for line in wrapped(sentence, "")]
        middle: list[str] = []
        printed = 0
        for kind in sorted(self._kinds.values(), key=lambda kind: kind.worst.order):
            name = f"{kind.source}: " if len(self._sources) > 1 else ""
            lines = lines_of_kind([kind.worst], kind.times, name)
            if len(first) + len(middle) + len(lines) + len(end) >= _MOST_LINES:
                break
            middle += lines
            printed += 1
        if more := self.counts.total() - printed:
            end.append(f"{readable.counted(more, 'more finding')}: --details prints them")
        return "\n".join([*first, *middle, *end[-(_MOST_LINES - len(first) - len(middle)) :]])

    @property
    def summary(self) -> str:
        """What the findings of all sources come to."""
        return conclusion(self.counts, self.held)

    def sentences(self, sources: Sources, stated: Mapping[str, Fact]) -> list[str]:
        """Return which rows can stand, what follows, and what the answer rests on."""
        facts = facts_by("you", stated)
        return [self._standing(), *self._consequences(sources), *facts, self.summary]

    def _standing(self) -> str:
        false = [
            f"{name} of {source}" if len(self._sources) > 1 else name
            for _, name, source in sorted(self._false)
        ]
        wide = f", beside {readable.counted(self._wide, 'finding')} about many rows" * bool(
            self._wide
        )
        doubted = f" Unsupported: {self._doubted:,} of these." * bool(self._doubted)
        several = readable.counted(len(self._sources), "source")
        name = next(iter(self._sources)) if len(self._sources) == 1 else several
        tools = readable.conjoined(sorted(self._readers))
        read = f"{name}: {tools}, {readable.counted(self._rows, 'row')}."
        if not false:
            return f"{read} No row contradicts itself{wide}.{doubted}"
        names = readable.listed(false, _MOST_NAMED)
        return f"{read} {self._rows - len(false):,} can stand{wide}.{doubted} Withdraw {names}."

    def _consequences(self, sources: Sources) -> Iterator[str]:
        if self._instead:
            rates = [text for _, text in sorted(self._instead)]
            yield f"Publish instead: {readable.listed(rates, _MOST_NAMED)}."
        if ranks := [*self._ranks()]:
            several = readable.counted(len(self._tables), "table")
            name = next(iter(self._tables)) if len(self._tables) == 1 else several
            yield f"Ranks of {name}: {'; '.join(ranks)}."
        if sources.unread:
            count = readable.counted(len(sources.unread), "result")
            yield f"Not read: {count}, named above with the reasons."
        if sources.passed:
            count = readable.counted(len(sources.passed), "file")
            yield f"Passed over: {count} without a result, named above with the reasons."
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
        elif ("unknown", "AN2") in self._kinds:
            yield "nobody knows which are noise, since each row has one number"
