"""Rising concurrency in words: the most, from where on, and by which law."""

from collections.abc import Iterator

from benchforge.plugin import Summary, Swept
from benchforge.reporters.numbers import Scale, scale


def sweeps(summary: Summary, scenario: str) -> list[str]:
    """Return a line for each server of a scenario that was swept."""
    return [
        f"{title(one)}: {', '.join(_told(one))}"
        for one in summary.sweeps
        if one.scenario == scenario
    ]


def title(one: Swept) -> str:
    """Return which server was swept, by which option of which driver, and where."""
    option = one.option.rpartition(".")[2]
    named = [f"{path.rpartition('.')[2]} {value}" for path, value in one.vary.items()]
    return f"{', '.join([one.server, *named])} by {one.driver}, {option} varied"


def scaled(one: Swept) -> Scale:
    """Return the scale of a sweep's values."""
    return scale(one.unit, [level.value.value for level in one.levels if level.value.value])


def _told(one: Swept) -> Iterator[str]:
    sizes, found = scaled(one), one.sweep
    if one.left_out:
        yield f"without {' and '.join(map(str, one.left_out))} (no value is believed)"
    if found is None:
        yield f"nothing is said of all levels together: {one.why}"
        return
    best = found.highest
    if best.value is None:
        yield f"the highest {one.metric} is unknown: {best.why}"
        return
    ends = f" (no interval: {best.why})"
    if best.low is not None and best.high is not None:
        ends = f" ({sizes.text(best.low)} to {sizes.text(best.high)})"
    yield f"at most {sizes.text(best.value)} {sizes.unit}{ends} at {found.at} at once"
    if found.saturated is not None:
        low, high = found.saturated_range or (found.saturated, found.saturated)
        about = f" (about {low} to {high})" if low != high else ""
        last = one.levels[-1].at
        still = f"not saturated below {last}" if found.saturated == last else ""
        yield f"{still or f'saturated from {found.saturated}'}{about}"
    if found.knee is not None:
        yield f"as many as {found.knee:.3g} times one at a time"
    if found.law is None:
        yield f"no scalability law: {found.law_why}"
        return
    law = found.law
    peak = law.why if law.peak is None else f"near {law.peak:.0f}"
    yield (
        f"scalability law (off by {law.off:.1%} at most): contention {law.contention:.2g}, "
        f"coherency {law.coherency:.2g}, peak {peak}"
    )
