"""Equality of encryption between servers and their backends (W4)."""

from collections.abc import Iterator, Sequence

from benchforge.checks.limits import Thresholds
from benchforge.model.trial.check import Check
from benchforge.model.trial.trial import Link, Trial

_WORDS: dict[str, str] = {
    "plain": "without TLS",
    "tls": "in TLS",
    "mixed": "in TLS and without",
    "none": "over no connection that was seen",
}


def of_comparison(cases: Sequence[Sequence[Trial]], limits: Thresholds) -> Iterator[Check]:
    """Yield W4 for each backend that several cases have."""
    trials = [trial for trials_of_case in cases for trial in trials_of_case]
    for label in dict.fromkeys(label for trial in trials for label in _backends(trial)):
        spoken: dict[str, set[Link | None]] = {}
        for trial in trials:
            if label in _backends(trial):
                spoken.setdefault(trial.case.server, set()).add(trial.encryption.get(label))
        if len(spoken) > 1:
            yield _of_backend(label, spoken, limits)


def _backends(trial: Trial) -> list[str]:
    if trial.observation is None:
        return []
    backends = (usage.label for usage in trial.observation.usage if usage.role == "backend")
    return [label.removeprefix("backend-") for label in backends]


def _of_backend(label: str, spoken: dict[str, set[Link | None]], limits: Thresholds) -> Check:
    all_links = {link for links in spoken.values() for link in links}
    by_server = "; ".join(
        f"{server} {' or '.join(_WORDS[link] for link in sorted(filter(None, links)))}"
        for server, links in spoken.items()
    )
    if None in all_links:
        says = f"how {label} is spoken to was not seen of each server: packets could not be read"
        return limits.check("W4", "behaviour", None, says).about(label, "comparison")
    encrypts = {bool(links & {"tls", "mixed"}) for links in spoken.values()}
    says = f"{label} is spoken to {by_server}"
    if encrypts == {True, False} or "mixed" in all_links:
        says += ": encryption is compared too; let all do the same"
        return limits.check("W4", "behaviour", None, says, "fail").about(label, "comparison")
    return limits.check("W4", "behaviour", None, says, "pass").about(label, "comparison")
