"""`benchforge audit`: reads the sources, checks them, and prints what was found."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchforge_results.named_file import write_file
from benchforge_results.over_time.page_file import write_page

from benchforge.cli.screen.say import say, show
from benchforge.errors import BenchforgeError, Unusable
from benchforge.plugin import Fact, Reader, Source
from benchforge.registry import Registry
from benchforge_commands.audit import documents, given
from benchforge_commands.audit.audited import Audited, audited, between
from benchforge_commands.audit.finding import FALSE
from benchforge_commands.audit.junit import junit
from benchforge_commands.audit.page import audit_page
from benchforge_commands.audit.sources import opened, reader_of, readers, unread
from benchforge_commands.audit.text import text

CONTRADICTED, NOTHING = 1, 4
_GIVEN = ("connections", "pipeline", "cores", "body")


def main(
    sources: Sequence[str],
    reader: str,
    columns: Sequence[str],
    everything: bool,
    as_json: bool,
    markdown: bool,
    page: Path | None,
    junit_file: Path | None,
    **options: str | None,
) -> int:
    """Check each source and print its findings."""
    if as_json and markdown:
        raise Unusable("--json and --markdown", "leave one out")
    facts = _facts(options)
    candidates = readers(Registry(), reader, dict(map(given.column, columns)))
    audits, whole = _audits(sources, candidates, facts)
    between(audits)
    if as_json:
        show(documents.as_json(audits, facts))
    elif markdown:
        show(documents.as_markdown(audits, facts))
    else:
        show(text(audits, facts, everything=everything))
    if page is not None:
        write_page(page, "audit.html.j2", audit_page(audits, facts))
    if junit_file is not None:
        write_file(junit_file, junit(audits))
    if not whole:
        return Unusable.exit_code
    if any(entry.severity in FALSE for audit in audits for entry in audit.findings):
        return CONTRADICTED
    if not any(audit.checked for audit in audits):
        say("nothing could be checked: the sources state too little")
        return NOTHING
    return 0


def _facts(options: Mapping[str, str | None]) -> dict[str, Fact]:
    """Return what the auditor gave, by the name of the fact."""
    facts = {
        name: given.number(name)(written)
        for name in _GIVEN
        if (written := options.get(name)) is not None
    }
    for name, parse in (("duration", given.duration), ("link", given.link)):
        if (written := options.get(name)) is not None:
            facts[name] = parse(written)
    return facts


def _audits(
    paths: Sequence[str], candidates: Sequence[Reader], facts: Mapping[str, Fact]
) -> tuple[list[Audited], bool]:
    """Return the audit of each source, and whether all could be read.

    In a folder, what no reader knows is passed over.
    """
    audits: list[Audited] = []
    passed = unread_ = 0
    for source, in_folder in opened(paths):
        reader = reader_of(source, candidates)
        if reader is None:
            if not in_folder:
                raise unread(source, [one.name for one in candidates])
            passed += 1
            continue
        try:
            audits.append(_audit(source, reader, facts))
        except Unusable as error:
            if not in_folder and len(paths) == 1:
                raise
            unread_ += 1
            say(error.text())
    if passed:
        say(f"passed over: {passed} files that no reader knows")
    if not audits:
        if unread_:
            raise Unusable("no source can be read", "see the errors above")
        raise Unusable("no file is the result of a tool that a reader knows", "see: --help")
    return audits, not unread_


def _audit(source: Source, reader: Reader, facts: Mapping[str, Fact]) -> Audited:
    try:
        audit = audited(source.name, reader.name, reader.rows(source), facts)
    except BenchforgeError as error:
        raise Unusable(f"{source.name}: {reader.name}: {error.message}", error.hint) from error
    except ValueError as error:
        hint = "is it whole? --as READER names another reader"
        raise Unusable(f"{source.name}: {reader.name}: {error}", hint) from error
    if not audit.rows:
        raise Unusable(f"{source.name}: {reader.name}: no result in it", "is it whole?")
    return audit
