"""The profile that searches for the highest rate, with rates at which p99 is known."""

from collections.abc import Iterator

DURATION_S = 10
CONNECTIONS = 50
"waitress takes 100 at most by default."
_LOWEST = 120  # /s, since p99 needs 1,000 responses
_STEPS = 10  # of 10 s: the interval is about 3 % to each side, in four minutes


def highest(kind: str) -> Iterator[str]:
    """Yield the lines of the profile; `kind` is the label of one of the mix."""
    yield "# The highest rate that keeps an objective, of all kinds or of one:"
    yield "#     benchforge run suite.toml --profile highest"
    responses = f"{_LOWEST * DURATION_S:,}"
    yield f"# p99 needs 1,000 responses: {_LOWEST}/s for {DURATION_S} s are {responses}."
    yield "# For a slower server, set a lower first rate and a longer duration: 12/s and 100 s."
    yield "[profiles.highest]"
    yield 'scenarios.mix.loaders = ["open"]'
    yield f"scenarios.mix.find.rate = [{_LOWEST}, 5000]"
    yield 'scenarios.mix.find.slo = ["latency p99 < 100ms"]'
    yield f"scenarios.mix.find.steps = {_STEPS}         # more steps: a narrower interval"
    yield "# With an objective for one kind, which needs 1,000 responses of that kind:"
    yield f'#scenarios.mix.find.slo = ["latency p99 < 100ms", "latency p99 {kind} < 50ms"]'
