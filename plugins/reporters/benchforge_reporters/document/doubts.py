"""What trials that cannot be believed mean for an answer."""

from collections.abc import Sequence

from benchforge.plugin import CaseSummary, readable


def used_doubts(cases: Sequence[CaseSummary]) -> tuple[int, int]:
    """Return the numbers of doubted trials behind the levels: disturbed ones, and the others."""
    used = [one for case in cases for one in case.doubted if one.used]
    disturbed = sum(one.disturbed for one in used)
    return disturbed, len(used) - disturbed


def of_ratios(cases: Sequence[CaseSummary]) -> list[str]:
    """Return what doubted trials mean for the ratios of servers: they count beside equals only."""
    disturbed, others = used_doubts(cases)
    of = _of(cases)
    texts = []
    if disturbed:
        texts.append(
            f"Other programs disturbed {disturbed} of {of}: the ratio compares trials that were "
            "disturbed alike."
        )
    if others:
        do = "does" if others == 1 else "do"
        texts.append(f"{others} of {of} {do} not count.")
    return texts


def of_level(cases: Sequence[CaseSummary]) -> list[str]:
    """Return what doubted trials mean for a server that is compared with none."""
    disturbed, others = used_doubts(cases)
    if not others and not disturbed:
        return []
    if not others:
        return [
            f"Other programs disturbed {disturbed} of {_of(cases)}: a quiet machine may show more."
        ]
    return [f"{others + disturbed} of {_of(cases)} cannot be believed: the level may be another."]


def _of(cases: Sequence[CaseSummary]) -> str:
    return readable.counted(sum(case.trials for case in cases), "trial")
