"""Responses of slices by the bytes that a load tool read in them, which was frozen between them."""

from itertools import accumulate, pairwise

from benchforge.model.trial.reading import Reading
from benchforge.model.trial.trial import Load
from benchforge.model.trial.turns import Turns
from benchforge.text.readable import exact

_OF_FILES = 16_384
"Bytes that a thread of a tool may read of files once the first has connected: a script, a locale."


def by_bytes(turns: Turns, reading: Reading) -> Turns:
    """Return turns whose responses are shared out by the bytes of each slice.

    `reading` is what the tool says of its whole load. A response that is read in two slices
    counts in the second one.
    """
    read = [one.received_bytes for one in turns.slices]
    bytes_read = [count for count in read if count is not None]
    if not bytes_read or not reading.received_bytes:
        return turns
    ends = [0, *accumulate(bytes_read)]
    whole = [end * reading.responses // reading.received_bytes for end in ends]
    slices = tuple(
        one.model_copy(update={"responses": after - before})
        for one, (before, after) in zip(turns.slices, pairwise(whole), strict=True)
    )
    return turns.model_copy(update={"slices": slices})


def contradiction(turns: Turns, reading: Reading, load: Load | None) -> str | None:
    """Return how the kernel's bytes contradict those of the tool; None where they agree.

    After the last slice the tool reads what was under way: a response of each connection.
    """
    if turns.uncounted_bytes is None:
        return None
    if not reading.received_bytes or not reading.responses:
        return "it reports no responses, or not how many bytes it received"
    kernel = turns.uncounted_bytes + sum(one.received_bytes or 0 for one in turns.slices)
    connections, threads = (1, 1) if load is None else (load.concurrency or 1, load.processes or 1)
    under_way = (connections + 1) * -(-reading.received_bytes // reading.responses)
    more, files = reading.received_bytes - kernel, _OF_FILES * (1 + threads)
    if -files <= more <= under_way + reading.byte_error:
        return None
    return (
        f"it reports {exact(reading.received_bytes)} bytes, but the kernel "
        f"{exact(kernel)} up to its last slice"
    )
