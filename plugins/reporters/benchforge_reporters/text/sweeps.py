"""Rising concurrency in words: the most, and from where on."""

from collections.abc import Iterator

from benchforge.plugin import ConcurrencySweep, Summary, readable


def sweeps(summary: Summary, scenario: str) -> list[str]:
    """Return a line for each server of a scenario that was swept."""
    return [
        f"{title(one)}: {', '.join(_sentences(one))}"
        for one in summary.sweeps
        if one.scenario == scenario
    ]


def title(swept: ConcurrencySweep) -> str:
    """Return which server was swept, by which option of which driver, and where."""
    option = swept.option.rpartition(".")[2]
    named = [f"{path.rpartition('.')[2]} {value}" for path, value in swept.vary.items()]
    return f"{', '.join([swept.server, *named])} by {swept.driver}, {option} varied"


def scaled(swept: ConcurrencySweep) -> readable.Scale:
    """Return the scale of a sweep's values."""
    return readable.scale(
        swept.unit, [level.value.value for level in swept.levels if level.value.value]
    )


def _sentences(swept: ConcurrencySweep) -> Iterator[str]:
    sizes, sweep = scaled(swept), swept.sweep
    if sweep is None:
        yield f"no curve: {swept.why}"
        return
    if swept.left_out:
        left_out = readable.conjoined(map(str, swept.left_out))
        yield f"without {left_out} (no value is believed)"
    best = sweep.highest
    if best.value is None:
        yield f"the highest {swept.metric} is unknown: {best.why}"
        return
    ends = f" (no interval: {best.why})"
    if best.low is not None and best.high is not None:
        ends = f" ({sizes.text(best.low)} to {sizes.text(best.high)})"
    yield f"at most {sizes.text(best.value)} {sizes.unit}{ends} at {sweep.best_level} at once"
    if sweep.saturated is not None:
        low, high = sweep.saturated_range or (sweep.saturated, sweep.saturated)
        about = f" (about {low} to {high})" if low != high else ""
        last = swept.levels[-1].concurrency
        still = f"not saturated below {last}" if sweep.saturated == last else ""
        yield f"{still or f'saturated from {sweep.saturated}'}{about}"
    if sweep.knee is not None:
        yield f"as many as {readable.figure(sweep.knee)} times one at a time"
