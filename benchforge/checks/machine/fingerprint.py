"""Changes of the machine between trials (G1)."""

from collections.abc import Iterator, Sequence

from benchforge.checks.limits import Thresholds
from benchforge.model.files.result import Header
from benchforge.model.trial.check import Check
from benchforge.model.trial.trial import Trial
from benchforge.text.readable import listed

_SHOWN = 3


def of_session(header: Header, trials: Sequence[Trial], limits: Thresholds) -> Iterator[Check]:
    """Yield G1: whether each trial began on the machine that the header tells of."""
    if not header.fingerprint:
        says = "whether the machine stayed the same was not looked at: an older benchforge measured"
        yield limits.check("G1", "apparatus", None, says).about(scope="result")
        return
    others = [trial for trial in trials if trial.fingerprint != header.fingerprint]
    unseen = [trial for trial in others if not trial.fingerprint]
    if unseen:
        says = f"whether the machine stayed the same is not known of {_named(unseen)}"
        yield limits.check("G1", "apparatus", None, says).about(scope="result")
    elif others:
        names = list(dict.fromkeys(fact for trial in others for fact in trial.changed_facts))
        changes = listed(names, _SHOWN) if names else "a hard fact"
        says = f"the machine changed while it was measured ({_named(others)}: {changes})"
        says += ": begin anew, and leave its settings alone"
        count = float(len(others))
        yield limits.check("G1", "apparatus", count, says, "fail").about(scope="result")
    else:
        says = "the machine's hard facts were the same before each trial"
        yield limits.check("G1", "apparatus", 0.0, says, "pass").about(scope="result")


def _named(trials: Sequence[Trial]) -> str:
    numbers = listed((str(trial.number) for trial in trials), _SHOWN)
    return f"{'trial' if len(trials) == 1 else 'trials'} {numbers}"
