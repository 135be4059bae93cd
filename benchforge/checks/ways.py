"""The ways in which a trial is made, and which checks have nothing to judge in each."""

from collections.abc import Iterator, Mapping
from typing import Final, Literal

from benchforge.checks.limits import Thresholds
from benchforge.model.files.result import Header
from benchforge.model.trial.check import Check
from benchforge.model.trial.trial import Trial

Way = Literal["alone", "in turns", "duel", "gate", "on hosts", "ceiling"]
_Reasons = Mapping[str, str]
"Ids of checks by the reason that they share; `W1 trial` is the check W1 of trials alone."
_OF_HOSTS, _OF_TURNS = "H2, H3, H4, H5, H6, H8", "I1, I2, I3, I4, I5, I6, I8, I9"
UNJUDGED: Final[Mapping[Way, _Reasons]] = {
    "in turns": {
        "I2 compares what others used in the slices of each": "N1, N2, N3, N4, L5, P2, quiet",
        "nobody looks at memory, heat, quotas and clocks": "M1, M2, M3, F1, F2, N5, T2, T3",
        "a server stands still between its slices: times mean nothing": "E2, L3, O1, S1, S2",
        "between slices nobody looks at single processes and at backends": "W3, W1 trial",
    },
    "on hosts": {"no host waits for quiet before a trial": "quiet"},
}
"What a way does not record: a comparison says of each check that it is unknown, and why."
ABSENT: Final[Mapping[Way, _Reasons]] = {
    "alone": {
        "all parts run on one machine": f"{_OF_HOSTS}, P1 result",
        "no servers take turns": _OF_TURNS,
    },
    "in turns": {
        "servers in turns run on one machine": _OF_HOSTS,
        "a load at a rate takes no turns": "L4",
        "a client that makes all requests at once takes no turns": "D5",
        "only ratios count, which hold for shared CPUs, too": "P1",
    },
    "duel": {
        "all its blocks are in turns": "I8",
        "a duel has no clients": "D5",
        "a duel names no runtimes": "D4",
        "a duel has no backends": "W3, W4",
        "a duel has no placebo": "S4",
        "a duel loads with one kind of request": "R1, R2",
        "a duel never samples bodies": "E7",
    },
    "gate": {
        "a gate has no placebo": "S4",
        "the recorded gate has no runtime, mix, backend or blocks alone": "D4, I8, R1, R2, W3, W4",
    },
    "on hosts": {"servers on hosts take no turns": _OF_TURNS},
    "ceiling": {
        "the trials of its load ran on one machine": _OF_HOSTS,
        "the null server takes turns with no other": _OF_TURNS,
        "the null server has neither an interpreter nor a backend of its own": "D4, W3",
        "the null server answers one kind of request": "R1, R2",
        "a client has no ceiling": "D5",
    },
}
"What cannot go wrong in a way: there is no question."
_RARE: Final = {
    "N5": "no quota limits the CPU time",
    "O2": "only wrk2 has a timer of whole milliseconds",
}


def way_of(trial: Trial) -> Way:
    """Return how a trial of the plan was made."""
    return "in turns" if trial.turns is not None else "on hosts" if trial.hosts else "alone"


def way_of_comparison(header: Header, scenario: str) -> Way:
    """Return how the trials of a scenario are made."""
    return "in turns" if scenario in header.turns else "on hosts" if header.hosts else "alone"


def reason(id_: str, way: Way, scope: str = "trial") -> str:
    """Return why a check has nothing to judge in a way; empty where nothing is known to be so."""
    if way == "ceiling" and scope != "trial":
        return "a ceiling is compared with nothing"
    ways: tuple[Way, ...] = (way, "in turns") if way in {"duel", "gate"} else (way,)
    for reasons in (by_way.get(of_way, {}) for of_way in ways for by_way in (UNJUDGED, ABSENT)):
        for cause, names in reasons.items():
            if {id_, f"{id_} {scope}"} & {*names.split(", ")}:
                return cause
    return _RARE.get(id_, "")


def unjudged(way: Way, limits: Thresholds) -> Iterator[Check]:
    """Yield that a check is unknown of all that is measured in a way, below one for each reason."""
    for reason, names in UNJUDGED.get(way, {}).items():
        first, *others = (name.partition(" ")[0] for name in names.split(", "))
        for id_ in (first, *others):
            check = limits.check(id_, "apparatus", None, f"not judged {way}: {reason}")
            yield check.about(scope="comparison", because=first if id_ != first else "")
