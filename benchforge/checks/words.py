"""Numbers and lists as a sentence of a check has them."""

from collections.abc import Iterable

NOT_LOOKED_AT = "only what the parts used was looked at, not what the machine did"
"Why a check of the machine is unknown, where nobody looked."


def percent(share: float) -> str:
    """Return a share for a person: 0.03121 is 3.12 %."""
    return f"{100 * share:.3g} %"


def listed(names: Iterable[str]) -> str:
    """Return names for a person: a, b and c."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
