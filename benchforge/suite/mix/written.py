"""A stream as load tools read it: the requests in a file, their index and their flows beside it."""

import hashlib
import json
import os
import struct
from itertools import islice
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

from benchforge.model.trial.answers.answer import Request
from benchforge.model.trial.reading import Load
from benchforge.model.trial.stream import Stream, StreamKind
from benchforge.suite.mix.record import Share, amount
from benchforge.suite.mix.stream import Mix

_ENTRY = struct.Struct("<QIHH")


def written(
    mixes: tuple[Mix, Mix],
    share: Share,
    root: str,
    seed: tuple[int, int],
    file: Path,
    secrets: frozenset[str],
) -> Stream:
    """Write the requests of a load into a file, and their index beside it.

    The digest is of the first of both mixes, the requests are of the other: with users logged in.
    `seed` is that of the run, and the block. Raises BenchforgeError where a feed runs out.
    """
    (driver, index_, places), (run, block), (plain, mix) = share, seed, mixes
    extra = [extra_headers(request, driver.load(), root) for request, _ in mix.first.values()]
    records, sha256, counts, position = (amount(driver), hashlib.sha256(), [0] * len(mix.shares), 0)
    with _opened(file) as content, _opened(file.with_suffix(".index")) as index:
        for number, record in enumerate(islice(mix.records(run, block), records)):
            if number % places == index_:
                sent = record.sent(extra[record.kind])
                index.write(_ENTRY.pack(position, len(sent), record.kind, len(record.later)))
                steps = (struct.pack("<I", len(step)) + step for step in record.later)
                position += sum(map(content.write, (sent, *steps)))
            sha256.update(record.framed)
            for n in record.kinds:
                counts[n] += 1
    if plain.after:
        flows = {**plain.flows, "extra": [headers.decode() for headers in extra]}
        with _opened(file.with_suffix(".flows")) as flows_file:
            flows_file.write(json.dumps(flows).encode())
    hidden = plain.hidden(secrets)
    text = "" if hidden is mix else hidden.digest(run, block, records)[0]
    return Stream(
        records=records,
        sha256=text or sha256.hexdigest(),
        kinds={
            label: StreamKind(
                share=share,
                records=counts[n],
                request=plain.first[label][0],
                after=plain.after.get(label),
                think_s=plain.thinks.get(label),
            )
            for n, (label, share) in enumerate(mix.shares.items())
        },
    )


def _opened(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")


def extra_headers(request: Request, load: Load, root: str) -> bytes:
    """Return the headers that depend on the trial."""
    names = {name.lower() for name in request.headers}
    lines = [] if "host" in names else [f"Host: {urlsplit(root).netloc}\r\n"]
    if load.keep_alive is False and "connection" not in names:
        lines.append("Connection: close\r\n")
    return "".join(lines).encode()
