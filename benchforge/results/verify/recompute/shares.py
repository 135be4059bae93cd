"""Trials that several processes recompute: what they find comes in the order of one process."""

import os
import pickle
import signal
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import BinaryIO

from benchforge.results.recomputed.verified import Verified
from benchforge.results.verify.recompute.recomputed import Recomputation, Result

Compare = Callable[[Recomputation, Result], Verified]


def compared_by(
    jobs: int,
    result: Result,
    recomputations: Sequence[Recomputation],
    of_trials: Collection[Recomputation],
    compare: Compare,
) -> Iterator[Verified]:
    """Yield what `compare` gives for each recomputation; for those `of_trials` share by share.

    Each share but the first has a process. If one ends early, its share is compared and raises
    here.
    """
    divided, shares = [each for each in recomputations if each in of_trials], result.shares(jobs)
    pipes = [_forked(partial(_all, divided, share, compare)) for share in shares[1:]]
    computed = cache(lambda number: _read(*pipes[number - 1]) if number else None)
    for recomputation in recomputations:
        if recomputation not in of_trials:
            yield compare(recomputation, result)
            continue
        for number, share in enumerate(shares):
            each = computed(number)
            yield each[divided.index(recomputation)] if each else compare(recomputation, share)


def _all(divided: Sequence[Recomputation], share: Result, compare: Compare) -> list[Verified]:
    return [compare(recomputation, share) for recomputation in divided]


def _forked(work: Callable[[], list[Verified]]) -> tuple[int, BinaryIO]:
    """Do some work in a process of its own; return its id, and a pipe with what it gives."""
    reader, writer = os.pipe()
    if pid := os.fork():
        os.close(writer)
        return pid, os.fdopen(reader, "rb")
    with suppress(BaseException):  # whatever it is, the other process meets it, too
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.close(reader)
        with os.fdopen(writer, "wb") as pipe:
            pickle.dump(work(), pipe)
    os._exit(0)


def _read(pid: int, pipe: BinaryIO) -> list[Verified] | None:
    with pipe:
        content = pipe.read()
    os.waitpid(pid, 0)
    try:
        each: list[Verified] = pickle.loads(content)  # noqa: S301 - of our own process
    except (EOFError, pickle.UnpicklingError):
        return None
    return each
