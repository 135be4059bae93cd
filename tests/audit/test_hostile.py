"""Readers of anything: bytes of any kind end in rows or in an error that names a place."""

import io
import itertools
import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from load import printers
from load.audits import all_readers
from load.queues import Setup, simulate

from benchforge.cli.plugins.examination.hostile import damages
from benchforge.cli.results.audit import documents
from benchforge.cli.results.audit.answer import AuditAnswer
from benchforge.cli.results.audit.audited import Sources, audited
from benchforge.cli.results.audit.sources import readers
from benchforge.errors import BenchforgeError
from benchforge.parts.reader import LINE_BYTES, Reader, Source
from benchforge.parts.registry import Registry
from benchforge.plugin import Fact

COLUMNS = {"rate": "rps:1/s", "requests": "total", "duration": "secs:s", "p50": "p50:us"}
READERS = {reader.name: reader for reader in all_readers()}
READERS |= {"columns": readers(Registry(), "columns", {**COLUMNS, "max": "max:us"})[0]}
GIVEN = {
    "body": Fact(13.0, "B", origin="by the auditor"),
    "connections": Fact(8.0, origin="by the auditor"),
    "cores": Fact(4.0, "cores", origin="by the auditor"),
    "link": Fact(1e9, "B/s", origin="by the auditor"),
}


def read(reader: Reader, content: bytes) -> None:
    """Audit any content: an error must be one line."""
    source = Source("any", io.BytesIO(content))
    reader.claims(source.head)
    try:
        audit = audited("any", reader.name, reader.rows(source), GIVEN)
    except (BenchforgeError, ValueError) as error:
        refused = str(error)
        if "\n" in refused[:200]:
            raise AssertionError(refused) from error
    else:
        sources, answer, pages = Sources(), AuditAnswer(), documents.Pages()
        for printer in (documents.AuditText(GIVEN, 9), documents.AuditMarkdown(GIVEN)):
            assert printer.source(audit) + printer.end(sources, "")
        as_json = documents.AuditJson(GIVEN)
        json.loads(as_json.source(audit) + as_json.end(sources, ""))
        answer.add(audit)
        assert len(answer.text(sources, GIVEN).splitlines()) <= 15
        pages.add(audit)
        sentences = answer.sentences(sources, GIVEN)
        assert documents.document(pages, sources, sentences, answer.counts, 0)
        assert documents.junit(pages, sources)


@pytest.mark.parametrize("name", READERS)
@given(content=st.binary(max_size=400))
@settings(max_examples=20, deadline=None, derandomize=True)
def test_any_bytes_end_in_rows_or_an_error(name: str, content: bytes) -> None:
    read(READERS[name], content)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)
_FIELDS = [
    *("metrics", "results", "benchmarks", "runs", "values", "rawData", "json", "summary", "stats"),
    *("latency", "level", "framework_id", "label", "value", "framework", "rps", "duration"),
    *(
        "total",
        "secs",
        "p50",
        "max",
        "latencyAvg",
        "totalRequests",
        "startTime",
        "requests",
        "status_codes",
        "result",
        "spec",
    ),
]


@pytest.mark.parametrize("name", READERS)
@given(data=st.data())
@settings(max_examples=8, deadline=None, derandomize=True)
def test_any_json_ends_in_rows_or_an_error(name: str, data: st.DataObject) -> None:
    table = st.dictionaries(st.sampled_from(_FIELDS), _VALUES, max_size=4)
    nested = st.dictionaries(
        st.sampled_from(_FIELDS), table | st.lists(table, max_size=3), max_size=4
    )
    document = data.draw(nested | st.lists(table, max_size=3))
    read(READERS[name], json.dumps(document).encode())


@pytest.mark.samples(16)
@pytest.mark.parametrize(
    ("tool", "part"), [*itertools.product([*printers.CLOSED, *printers.OPEN], range(4))]
)
def test_damaged_outputs(tool: str, part: int) -> None:
    rate = 100.0 if tool in printers.OPEN else None
    text = {**printers.CLOSED, **printers.OPEN}[tool](simulate(Setup(rate=rate, duration_s=0.3)))
    reader = READERS[tool.removesuffix("_text")]
    content = text.encode()[:20_000]
    for number, (_, damaged) in enumerate(damages(content)):
        if number % 4 == part:
            read(reader, damaged)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("k6", b'{"metrics": ' + b"[" * 100_000, "nested too deeply"),
        ("k6", b'{"metrics": [' + b"1," * 1_100_000 + b"1]}", "at most"),
        ("jmeter", b"timeStamp,elapsed,label\n" + b"1" * 3 * LINE_BYTES, "line 2: has"),
        ("hyperfine", b'{"results": [{"times": [1e999]}]}', "results.0.times.0"),
        ("wrk", b"Running 1s test @ x\n" * 3, "line 1: no line 'requests in'"),
    ],
)
def test_what_is_too_much_is_an_error_with_its_place(name: str, content: bytes, says: str) -> None:
    with pytest.raises(ValueError, match=says.replace("[", r"\[")):
        list(READERS[name].rows(Source("any", io.BytesIO(content))))


def test_a_huge_file_is_refused_before_it_is_parsed() -> None:
    with Path("/dev/zero").open("rb") as endless, pytest.raises(ValueError, match="bytes"):
        Source("any", endless).text()


def test_samples_are_not_kept() -> None:
    titles = b"timeStamp,elapsed,label,responseCode,threadName,success,bytes,Latency,Connect\n"
    rows = [b"%d,5,home,200,t-%d,true,99,4,1\n" % (10 * n, n % 50) for n in range(4_000)]
    content = titles + b"".join(rows)
    tracemalloc.start()
    (row,) = READERS["jmeter"].rows(Source("any", io.BytesIO(content)))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert row.facts["requests"].value == 4_000
    assert most < 3 * len(content)
