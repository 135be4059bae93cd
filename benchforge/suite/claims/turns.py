"""What the cases and claims of a suite say of turns that is not possible."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from benchforge.model.suite.claim import Claim
from benchforge.model.suite.turns import LONGEST_FREEZE_S, longest_freeze_s
from benchforge.model.values.case_name import CaseName
from benchforge.suite.scenarios.turns import KEY, all_turns
from benchforge.suite.suite import Suite
from benchforge.suite.toml.faults import Fault
from benchforge.suite.toml.positions import Path
from benchforge.text.readable import amount

_OFF = 'or set interleave = "off" in the scenario'


def freeze_faults(suite: Suite, cases_of: Callable[[str], Iterable[CaseName]]) -> Iterator[Fault]:
    """Yield each scenario whose servers would stand still for too long, or have nobody beside."""
    for label, turns in all_turns(suite).items():
        own = suite.scenarios[label].interleave is not None
        place: Path = ("scenarios", label, KEY) if own else ("repeat", KEY)
        together = Counter(map(turns.group, cases_of(label)))
        most, least = max(together.values(), default=0), min(together.values(), default=0)
        frozen_s = longest_freeze_s(most, turns.slice_s)
        if least == 1:
            message = f"{label!r} compares a case with no other: nobody takes turns with it"
            yield Fault(place, message, 'set interleave = "off" in the scenario')
        elif frozen_s > LONGEST_FREEZE_S:
            message = (
                f"{label!r}: with {most} {turns.among} in turns one stands still for up to "
                f"{amount('s', frozen_s)}, and connections may time out: at most "
                f"{amount('s', LONGEST_FREEZE_S)}"
            )
            longest_ms = int(1000 * LONGEST_FREEZE_S / (2 * (most - 1)))
            yield Fault(place, message, f"a slice of {longest_ms}ms or less, {_OFF}")


def turns_claim_faults(claims: Sequence[Claim], suite: Suite) -> Iterator[Fault]:
    """Yield each claim that turns cannot answer: they tell ratios of one comparison alone.

    A claim with a side that is not measured is not judged, so nothing is wrong with it.
    """
    turns, measured = all_turns(suite), set(suite.only or suite.scenarios)

    def group(case: CaseName) -> str:
        return turns[case.scenario].group(case) if case.scenario in turns else ""

    for claim in claims:
        between = {case.scenario for case in claim.cases}
        if not between & turns.keys() or not between <= measured:
            continue
        place: Path = ("claims", claim.label)
        if not suite.metrics[claim.metric].in_turns:
            message = f"{claim.metric!r} is not known where servers take turns"
            yield Fault((*place, "metric"), message, f"claim a throughput or CPU time, {_OFF}")
        if claim.hypothesis.form != "ratio":
            message = f"{claim.hypothesis.text}: where servers take turns only ratios are valid"
            yield Fault((*place, "holds"), message, f"such as a > 1.1 * b, {_OFF}")
        elif any(len(set(map(group, one.cases))) > 1 for one in claim.instances):
            message = "its sides do not take turns with one another"
            hint = "compare servers of one scenario and load tool, or clients of one server"
            if len(between) == 1:
                hint = 'set turns = "all" in the scenario'
            yield Fault(place, message, f"{hint}, {_OFF}")
