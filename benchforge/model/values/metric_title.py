"""How a metric's part is called."""


def titled(metric: str, of: str | None) -> str:
    """Return a metric's label and its part, without a unit, and without repetition."""
    return metric if of in {None, "", metric} else f"{metric} {of}"
