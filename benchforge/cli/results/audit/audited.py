"""Audits of sources: their rows one by one, their tables, then the facts that they lack."""

import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from benchforge.cli.console.say import say
from benchforge.cli.results.audit.checks import counts, failures, load, tables, times
from benchforge.cli.results.audit.facts import FactsInUse, shown, value
from benchforge.cli.results.audit.finding import AuditCheck, Finding, Scope
from benchforge.cli.results.audit.sources import claimed, opened, unread
from benchforge.errors import BenchforgeError, Unusable
from benchforge.parts.reader import Fact, Reader, Row, Source
from benchforge.text import readable

CHECKS: Final = [
    item
    for module in (load, times, counts, failures, tables)
    for item in vars(module).values()
    if isinstance(item, AuditCheck)
]
EXPLAINS: Mapping[str, Collection[str]] = {"AL6": {"AL2"}, "AX3": {"AL1", "AL2", "AL6"}}
"A finding of the first code explains those of the others: idle connections by a wrong duration."
MOST_ROWS = 200_000
MOST_NAMED = 5  # files that no reader knows: a repository has thousands
_LACKS = "the table: no column "
WANTED = {
    "connections": "--connections",
    "pipeline": "--pipeline",
    "duration": "--duration",
    "body": "--body",
}
"Facts that an auditor may know, and that loads need; with the options that give them."
UNCHECKED = ("AK1", "AN2", "AF2", "AZ1")
"Findings about missing facts, or about options: they check no identity."


@dataclass
class Audited:
    """The findings of a source."""

    source: str
    reader: str
    rows: list[Row] = field(default_factory=list)
    count: int = 0
    "Number of rows, also of those that are not kept."
    unread: list[str] = field(default_factory=list)
    "Place of each result that could not be read, with the reason."
    passed: list[str] = field(default_factory=list)
    "Place of each part that is not a result, with the reason."
    findings: list[Finding] = field(default_factory=list)
    held: Counter[str] = field(default_factory=Counter)
    "Number of rows and tables in which an identity holds, by its code."
    silent: dict[str, Counter[str]] = field(default_factory=dict)
    "Facts that rows lack of which a check said nothing, with the number of these rows; by code."

    @property
    def checked(self) -> int:
        """Number of identities that could be checked."""
        broken = {(finding.code, finding.row) for finding in self.findings}
        return self.held.total() + sum(code not in UNCHECKED for code, _ in broken)

    @property
    def not_asked(self) -> dict[str, Counter[str]]:
        """The checks without an answer for any row, with missing facts and numbers of rows."""
        spoke = {finding.code for finding in self.findings} | self.held.keys()
        return {code: lacks for code, lacks in self.silent.items() if code not in spoke}

    def sorted(self) -> list[Finding]:
        """Return the findings, the worst ones first, those of a check together."""
        return sorted(self.findings, key=lambda it: (it.order[0], it.code, it.order[1]))


def audited(source: str, reader: str, rows: Iterable[Row], stated: Mapping[str, Fact]) -> Audited:
    """Check the rows of a source. Raises ValueError for more rows than memory is kept for."""
    audit = Audited(source, reader)
    names: Counter[str] = Counter()
    for row in rows:
        if len(audit.rows) >= MOST_ROWS:
            raise ValueError(readable.too_many(MOST_ROWS + 1, MOST_ROWS, "rows"))
        for word, others in (("unread", audit.unread), ("passed over", audit.passed)):
            if word in row.facts:
                others.append(str(row.facts[word].value))
                break
        else:
            audit.count += 1
            names[row.name] += 1
            again = f"{row.name} ({names[row.name]})" if names[row.name] > 1 else row.name
            audit.rows.append(replace(row, name=again, facts=FactsInUse({**stated, **row.facts})))
            audit.findings += _disagreeing(replace(row, name=again), stated)
            _check(audit, "row", "", audit.rows[-1:])
    by_table: defaultdict[str, list[Row]] = defaultdict(list)
    for row in audit.rows:
        by_table[row.table].append(row)
    for name, some in by_table.items():
        if name:
            _check(audit, "table", name, some)
    _check(audit, "source", source, audit.rows)
    explained = {code for item in audit.findings for code in EXPLAINS.get(item.code, ())}
    audit.findings = [item for item in audit.findings if item.code not in explained]
    audit.findings += _not_stated(audit)
    return audit


def _check(audit: Audited, scope: Scope, subject: str, rows: Sequence[Row]) -> None:
    """Take the findings of all checks of a scope; one on a row has its name and place."""
    name, where = (rows[0].name, rows[0].where) if scope == "row" else ("", "")
    for check in CHECKS:
        if check.scope != scope:
            continue
        findings = check(rows[0]) if scope == "row" else check(subject, rows)
        lacks = [each.facts.taken() for each in rows if isinstance(each.facts, FactsInUse)]
        if findings is None:
            silent = audit.silent.setdefault(check.code, Counter())
            silent.update(lack for names in lacks for lack in names)
            continue
        if not findings:
            audit.held[check.code] += 1
        audit.findings += (
            replace(
                finding,
                row=finding.row or name,
                where=finding.where or where,
                rests_on=sys.intern(finding.rests_on),  # many findings rest on one sentence
            )
            for finding in findings
        )


@dataclass
class Sources:
    """The sources that an auditor names, as far as they were read."""

    unread: list[str] = field(default_factory=list)
    "Source and place of each result that could not be read, with the reason."
    passed: list[str] = field(default_factory=list)
    "Name of each file without a result, with the reason."
    is_complete: bool = True
    "False if a result could not be read, or a source that was named holds none."
    _count: int = 0
    _lacking: Counter[str] = field(default_factory=Counter)
    _older: dict[tuple[str, str, str], dict[str, float]] = field(default_factory=dict)

    def audits(
        self, paths: Sequence[str], candidates: Sequence[Reader], facts: Mapping[str, Fact]
    ) -> Iterator[Audited]:
        """Yield the audit of each source by each reader that claims it, once it is read.

        What is not read is printed with its reason. Raises Unusable where nothing is.
        """
        hint = "see: --help"
        for source, in_folder in opened(paths, self.passed.append):
            try:
                if in_folder and len(candidates) == 1 and not candidates[0].claims(source.head):
                    raise unread(source, [candidates[0].name])
                news, refused = _audits(source, candidates, facts)
            except Unusable as error:
                if not in_folder and len(paths) == 1:
                    raise
                news, refused = [], [error]
                if not source.head.strip() or "no reader knows" in error.message:
                    self.passed.append(error.message)
                    hint = max(hint, error.hint, key=lambda text: text.count("--column "))
                    self.is_complete = self.is_complete and in_folder
                    continue
            self._refuse(error.message for error in refused)
            for audit in news:
                self._take(audit, in_folder=in_folder)
                yield audit
        self._name_others()
        if not self._count:
            hint = hint if self.is_complete else "see the lines above"
            raise Unusable("no file is a result that a reader can read", hint)

    def _take(self, audit: Audited, *, in_folder: bool) -> None:
        self._count += 1
        name = f"{audit.source}: {audit.reader}: "
        lacks = [reason for reason in audit.unread if in_folder and reason.startswith(_LACKS)]
        self._lacking.update(reason.partition(";")[0] for reason in lacks)
        self._refuse(name + reason for reason in audit.unread if reason not in lacks)
        self.passed += [name + reason for reason in audit.passed]
        self._compare(audit, Path(audit.source).name if in_folder else "")

    def _name_others(self) -> None:
        """Print what was passed over, and the columns that no source of a folder has."""
        for lack, sources in self._lacking.items():
            if sources == self._count:
                self._refuse([f"{lack} in any file"])
            else:
                self.passed.insert(0, f"{sources} of {self._count} files: {lack}")
        some = dict.fromkeys(reason.partition(": ")[0] for reason in self.passed)
        many = [f"{readable.listed(some, 3)}; --json has the reasons"]
        for reason in self.passed if len(self.passed) <= MOST_NAMED else many:
            say(f"passed over: {reason}")

    def _refuse(self, reasons: Iterable[str]) -> None:
        for reason in reasons:
            say(f"not read: {reason}")
            self.unread.append(reason)
            self.is_complete = False

    def _compare(self, audit: Audited, file: str) -> None:
        """Compare the tables of a source with those before it: in a folder, those of its name.

        A row without a name is not the row at the same place of another table.
        """
        by_table: defaultdict[str, dict[str, float]] = defaultdict(dict)
        for row in audit.rows:
            if row.table and row.name != row.where:
                by_table[row.table][row.name] = value(row, "rate")
        for name, rates in by_table.items():
            older = self._older.get((audit.reader, file, name))
            if older and (finding := tables.ranks(name, older, rates)):
                audit.findings.append(finding)
            self._older[audit.reader, file, name] = rates


def _audits(
    source: Source, candidates: Sequence[Reader], facts: Mapping[str, Fact]
) -> tuple[list[Audited], list[BenchforgeError]]:
    """Return audits by each reader that claims a source, and errors. Raises Unusable for none."""
    try:
        claims = claimed(source, candidates)
    except ValueError as error:
        raise Unusable(f"{source.name}: {error}", "name its reader with --as") from error
    if not claims:
        raise unread(source, [candidate.name for candidate in candidates])
    audits: list[Audited] = []
    refused: list[BenchforgeError] = []
    for reader, copy in claims:
        try:
            audits.append(_audit(copy, reader, facts))
        except Unusable as error:
            refused.append(error)
    if not audits:
        raise refused[0]
    return audits, refused


def _audit(source: Source, reader: Reader, facts: Mapping[str, Fact]) -> Audited:
    try:
        audit = audited(source.name, reader.name, reader.rows(source), facts)
    except BenchforgeError as error:
        raise Unusable(f"{source.name}: {reader.name}: {error.message}", error.hint) from error
    except ValueError as error:
        hint = "is it whole? --as READER names another reader"
        raise Unusable(f"{source.name}: {reader.name}: {error}", hint) from error
    if not audit.rows:
        reason = audit.unread[0] if audit.unread else "no result in it"
        raise Unusable(f"{source.name}: {reader.name}: {reason}", "is it whole?")
    return audit


def _disagreeing(row: Row, stated_: Mapping[str, Fact]) -> Iterable[Finding]:
    """Yield the facts in which the auditor and the source differ: the source's count."""
    for name, fact in stated_.items():
        stated = row.facts.get(name)
        if stated is None or isinstance(stated.value, str) or stated.origin.startswith("by the"):
            continue
        if stated.estimator.startswith("computed"):  # from first to last sample of a label
            continue
        value, room = float(fact.value), 0.1 if name == "duration" else 0.0
        near = abs(value - float(stated.value)) < room * value
        if near or stated.low <= value <= stated.high:
            continue
        differ = f"you gave {shown(fact)}, the source states {shown(stated)}"
        yield Finding(
            code="AF2",
            severity="unsupported",
            title=f"you and the source differ in {name}",
            identity=f"{differ}; the checks use the latter",
            row=row.name,
            where=stated.origin or row.where,
        )


def _not_stated(audit: Audited) -> Iterable[Finding]:
    """Yield which facts no row of a load has, though a check needs them."""
    loads = [row for row in audit.rows if "rate" in row.facts or "loop" in row.facts]
    stated = {name.removesuffix("_asked") for row in loads for name in row.facts}
    missing = [f"{name} ({option})" for name, option in WANTED.items() if name not in stated]
    if loads and missing:
        yield Finding(
            code="AK1",
            title="facts that checks need are not stated",
            identity=f"not stated: {readable.conjoined(missing)}",
            row="all rows" if len(audit.rows) > 1 else audit.rows[0].name,
        )
