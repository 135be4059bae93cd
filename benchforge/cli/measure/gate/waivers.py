"""Waivers: scenarios that may be slower, by the table [gate] of the suite."""

from collections.abc import Sequence
from datetime import date

from benchforge.model.suite.claim import Waiver


def waiver_of(
    waivers: Sequence[Waiver], scenario: str, server: str, today: date
) -> tuple[Waiver | None, Waiver | None]:
    """Return the waiver that holds today for a server of a scenario, and an expired one."""
    own = [one for one in waivers if one.scenario == scenario and one.server in {None, server}]
    valid = [one for one in own if one.until is None or one.until >= today]
    expired = [one for one in own if one not in valid]
    return next(iter(valid), None), next(iter(expired), None)
