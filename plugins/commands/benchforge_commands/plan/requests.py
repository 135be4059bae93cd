"""The first requests of each kind of a mix, as a load sends them."""

from collections.abc import Iterator
from itertools import islice

import click

from benchforge.errors import BenchforgeError
from benchforge.suite.suite import Suite
from benchforge.suite.workload import MOST, StreamRecord, Workload
from benchforge.text import safe
from benchforge.text.readable import counted

_LONGEST = 200  # characters of a body


def request_lines(suite: Suite, seed: int, number: int) -> Iterator[str]:
    """Yield so many requests of each kind of each scenario, from the stream of the first block."""
    if not suite.workloads:
        yield "no scenario has kinds: each sends one request again and again"
    for label, workload in suite.workloads.items():
        if label not in suite.scenarios:
            continue
        deck = counted(len(workload.deck), "request")
        heading = f"scenario {label}: requests of block 1; each {deck} have the shares"
        yield click.style(heading, bold=True)
        firsts = _firsts(workload, seed, number)
        for place, (kind, share) in enumerate(workload.shares.items()):
            yield f"  {kind}: share {share}"
            yield from (f"    {line}" for record in firsts[place] for line in _lines(record))


def _firsts(workload: Workload, seed: int, number: int) -> list[list[StreamRecord]]:
    firsts: list[list[StreamRecord]] = [[] for _ in workload.shares]
    lacking = len(firsts)
    try:
        for record in islice(workload.records(seed, 1), MOST):
            there = firsts[record.kind]
            if len(there) < number:
                there.append(record)
                lacking -= len(there) == number
            if not lacking:
                break
    except BenchforgeError:  # a feed ran out: what was rendered so far is shown
        return firsts
    return firsts


def _lines(record: StreamRecord) -> Iterator[str]:
    first, *headers = record.head.decode().splitlines()
    yield safe.word(first.removesuffix(" HTTP/1.1"))
    yield from (f"  {safe.word(header)}" for header in headers)
    if record.body:
        text = record.body.decode()
        cut = f"... ({len(text)} characters)" if len(text) > _LONGEST else ""
        yield f"  {safe.word(text[:_LONGEST])}{cut}"
