"""Whether the servers of a measured duel did the same work."""

from pathlib import Path

from benchforge.cli.measure.outcome import NO_ANSWER
from benchforge.cli.screen.say import say
from benchforge.model.files.folder import read_summary


def judged(code: int, folder: Path) -> int:
    """Return the exit code of a duel by that of its run: 4, with the reason, for unlike servers.

    A ratio of servers that did different work answers nothing, as an invalid claim.
    """
    if code:
        return code
    why = dict.fromkeys(
        f"{check.message.partition(': ')[0]} ({check.id})"
        for comparison in read_summary(folder).comparisons
        for check in comparison.unlike
    )
    if not why:
        return 0
    say(f"the servers are not comparable, so the exit code is {NO_ANSWER}: {'; '.join(why)}")
    return NO_ANSWER
