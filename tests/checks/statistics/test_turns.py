"""I1 to I9: work and waiting while a server is frozen, bad ends of slices, noise, drift."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made import plain
from made.quiet_trial import LIMITS, Row, only, parts, reading, trial
from made.turns import other_slices, probed_slices, turns

from benchforge.checks import ask
from benchforge.checks.causes import audience
from benchforge.checks.statistics.repetitions import of_bridge
from benchforge.checks.statistics.turns import of_comparison, of_trial, position_effect, waits
from benchforge.model.trial.check import Check
from benchforge.model.trial.trial import Trial
from benchforge.model.trial.turns import ProbedSlice, Turns
from benchforge.stats.turns import excesses, order, probe_lengths, waiting_s

STEADY = turns(*[200] * 20)


def between(first_side: Turns, theirs: Turns, id_: str) -> Check:
    other = trial(turns=theirs, case=plain.named("other", scenario="s", driver="closed"))
    return only(of_comparison([[trial(turns=first_side)], [other]], LIMITS), id_)


def frozen(cpu_s: float, frozen_s: float = 2.0) -> Trial:
    return trial(turns=turns(*[200] * 20, frozen_s=frozen_s, frozen_cpu_s=cpu_s))


def late(drained_s: float) -> Trial:
    return trial(turns=other_slices(STEADY, drained_s=drained_s))


def empty(slices: int) -> Trial:
    return trial(turns=turns(*[0] * slices, *[200] * (19 - slices)))


ROWS = [
    Row("I1", trial(turns=STEADY), "pass", 0),
    Row("I1", frozen(0.005), "pass"),
    *(Row("I1", frozen(n), "fail", says="worked in the turns of others") for n in (0.006, 0.3)),
    Row("I1", frozen(0, frozen_s=0), "unknown"),
    Row("I3:flask", late(0.004), "pass"),
    Row("I3:flask", late(0.02), "warn"),
    Row("I3:flask", late(0.05), "fail"),
    Row("I3:requests", trial(turns=turns(*[49] * 6)), "warn"),
    Row("I3:requests", trial(turns=turns(*[50] * 6)), "pass"),
    Row("I6", empty(1), "pass"),
    *(Row("I6", empty(slices), "fail") for slices in (2, 10)),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.check}-{row.outcome}")
def test_slices(row: Row) -> None:
    row.holds()


def test_i3_does_not_ask_one_request_after_the_other() -> None:
    load = trial().load
    assert load is not None
    late = other_slices(turns(*[12] * 6), drained_s=0.05)
    item = trial(turns=late, load=load.model_copy(update={"concurrency": 1}))
    assert "I3" not in {check.id for check in of_trial(item, LIMITS)}


@pytest.mark.parametrize(
    ("foreign_s", "status"), [(0.01, "pass"), (0.025, "warn"), (0.06, "fail"), (None, "unknown")]
)
def test_i2_of_noise_that_met_one_side_more(foreign_s: float | None, status: str) -> None:
    assert between(other_slices(STEADY, foreign_cpu_s=foreign_s), STEADY, "I2").status == status


def test_i2_passes_noise_that_met_both_alike() -> None:
    loud = other_slices(STEADY, foreign_cpu_s=0.15)
    assert between(loud, loud, "I2").status == "pass"


def test_i5_warns_of_a_ratio_that_drifts() -> None:
    growing = turns(*[200 + 2 * number for number in range(20)])
    load = between(growing, STEADY, "I5")
    assert load.status == "warn"
    assert "+1" in load.message
    assert between(growing, growing, "I5").status == "pass"
    assert between(turns(*[200] * 5), turns(*[200] * 5), "I5").status == "unknown"


def test_i5_pairs_no_slices_of_different_launches() -> None:
    elsewhere = STEADY.model_copy(update={"trials": (7, 8)})
    assert between(STEADY, elsewhere, "I5").status == "unknown"


def test_i2_passes_a_server_that_leaves_less_to_others() -> None:
    busy = other_slices(STEADY, foreign_cpu_s=0.04, cpu_s=0.14)
    idle = other_slices(STEADY, foreign_cpu_s=0.12, cpu_s=0.06)
    assert between(busy, idle, "I2").status == "pass"


@pytest.mark.parametrize(
    ("printed", "of_trials", "status"),
    [
        ((30_000_000, 0), ["warn", "pass"], "fail"),
        ((30_000_000, 40_000_000), ["warn", "warn"], "pass"),
        ((0, 5_000_000), ["pass", "pass"], "pass"),
        ((30_000_000, None), ["warn", "unknown"], "unknown"),
    ],
)
def test_d3_of_servers_in_turns_that_log_each_request(
    printed: tuple[int | None, ...], of_trials: list[str], status: str
) -> None:
    """536,000 requests each: 30 MB are 56 bytes of a request, 5 MB are 9."""
    pair = [
        trial(
            turns=STEADY,
            case=plain.named(label, scenario="s", driver="closed"),
            parts=parts(server={"printed_bytes": count}),
        )
        for label, count in zip(("one", "two"), printed, strict=True)
    ]
    assert [only(ask.of_trial(each, LIMITS), "D3").status for each in pair] == of_trials
    between_them = only(ask.of_comparison([[each] for each in pair], LIMITS), "D3")
    assert between_them.status == status
    says = "one writes to logs for each request and two does not"
    assert (says in between_them.message) is (status == "fail")


def placed(per_place: float) -> Turns:
    """Turns of the first of two trials, faster in the last place of a round."""
    rates = (
        round(2000 + per_place * indices.index(0) + number % 3)
        for number, indices in enumerate(order(1, 2, 20))
    )
    return turns(*rates, trials=(trial().number, 99), seed=1)


@pytest.mark.parametrize(
    ("per_place", "status", "says"),
    [
        (100, "warn", "servers are 4.97 % faster in the last place"),
        (-100, "warn", "servers are 5.02 % slower in the last place"),
        (0, "pass", "does not decide"),
    ],
)
def test_i4_of_a_place_in_a_round_that_decides(per_place: float, status: str, says: str) -> None:
    actual = position_effect([trial(turns=placed(per_place))], LIMITS)
    assert actual.status == status
    assert says in actual.message


def test_i4_is_unknown_of_few_slices() -> None:
    assert position_effect([trial(turns=turns(200, 200))], LIMITS).status == "unknown"


def sides(rates: list[float]) -> list[list[Trial]]:
    """Blocks of two servers, of which the first has these rates and the other 1,000/s."""

    def made(label: str, rate: float, block: int) -> Trial:
        case = plain.named(label, scenario="s", driver="closed")
        return trial(case=case, reading=reading(responses=round(10 * rate)), block=block)

    pairs = {"one": rates, "two": [1000.0] * len(rates)}
    return [[made(label, rate, n) for n, rate in enumerate(row, 1)] for label, row in pairs.items()]


@pytest.mark.parametrize(
    ("alone", "status"),
    [
        ([1000, 1010, 990, 1000], "pass"),
        ([800, 808, 792, 800], "fail"),
        ([1000, 1010], "unknown"),
        ([1000, 2000, 500, 1000], "unknown"),
    ],
)
def test_i8_holds_turns_against_blocks_without(alone: list[float], status: str) -> None:
    (actual,) = of_bridge(sides([1000, 1005, 995, 1000]), sides(alone), "asked", LIMITS)
    assert (actual.status, actual.component) == (status, "one / two")
    assert ('interleave = "off"' in actual.message) is (status == "fail")


def test_noise_and_response_times_are_not_asked_of_a_trial_in_turns() -> None:
    ids = {check.id for check in ask.of_trial(trial(turns=STEADY), LIMITS)}
    assert {"I1", "I3", "I6", "L1", "K1", "E1"} <= ids
    assert not ids & {"N1", "N2", "N3", "N4", "L3", "L5", "S1", "P2", "O1", "T2"}


IDLE = other_slices(turns(*[50] * 20), cpu_s=0.002, loader_cpu_s=0.001)
"16 connections, 500 responses/s: a request waits 31 ms of a slice of 100."


def waiting(took: Turns) -> Check:
    return only(waits({"flask": [trial(turns=took)]}, LIMITS), "I9")


def probed(*bursts: float, rate: float = 500) -> Turns:
    return IDLE.model_copy(update={"probed": probed_slices(*bursts, rate=rate)})


SHORT = [probe for probe in probed_slices(0.001, 0.0, 0.001) if probe.slice_s < 0.4]


SURE, BOUNDED = "turns add at most 1.80 % of its responses (99 %)", "(99 %), but may add less"


@pytest.mark.parametrize(
    ("took", "status", "says"),
    [
        # A timer that runs on is due when its server goes on.
        (probed(0.02, 0.025, 0.018), "fail", "31.0 % of a slice"),
        (probed(0.02, 0.025, 0.018), "fail", "turns add 17.5 % of its responses: its timers go on"),
        (probed(*[0.001, 0] * 2, rate=5000), "pass", SURE),
        # Noise may explain what it explains, and the bound limits the answer.
        (probed(0.06, -0.02, 0.06, -0.02), "unknown", f"of its responses {BOUNDED}"),
        # Other slices tell nothing.
        (IDLE, "unknown", "was not measured"),
        (IDLE.model_copy(update={"probed": tuple(SHORT)}), "unknown", ""),
        # Of 16 connections 15 wait for their turn or for a CPU, which is no timer.
        (other_slices(turns(*[50] * 20), cpu_s=0.07, loader_cpu_s=0.03), "pass", ""),
        (other_slices(IDLE, cpu_s=0.02).model_copy(update={"cpu_wait_s": 1.9}), "pass", ""),
    ],
)
def test_i9_of_waits_that_turns_flatter(took: Turns, status: str, says: str) -> None:
    check = waiting(took)
    assert (check.status, check.subject) == (status, "apparatus")
    assert says in check.message
    assert status != "unknown" or audience(check, LIMITS) == "limits"


@given(st.integers(1, 512), st.floats(1, 1e6), st.floats(0, 2))
def test_i9_has_no_waiting_longer_than_a_request(count: int, rate: float, busy: float) -> None:
    assert 0 <= waiting_s(count, rate, busy) <= count / rate


def probe(length_s: float, responses: int) -> ProbedSlice:
    return ProbedSlice(slice_s=length_s, seconds=length_s, responses=responses)


def sleeping(takes_s: float, slice_s: float = 0.1) -> list[ProbedSlice]:
    """64 requests at once, each of which takes so long: all are due when a slice begins."""
    lengths = [*probe_lengths(slice_s)][1:]
    return [probe(length_s, 64 * (1 + math.floor(length_s / takes_s))) for length_s in lengths]


@given(st.floats(0.002, 0.3))
def test_i9_passes_no_sleep_that_turns_flatter_beyond_the_bound(takes_s: float) -> None:
    took = IDLE.model_copy(update={"probed": tuple(sleeping(takes_s))})
    flattered = ((1 + math.floor(took.slice_s / takes_s)) / took.slice_s) * takes_s - 1
    assert waiting(took).status == "fail" or flattered < 0.075


@given(st.floats(50, 10_000), st.floats(0, 1), st.sampled_from([0.02, 0.1, 0.5, 1.0]))
def test_i9_has_the_excess_of_a_slice_as_a_share_of_its_rate(
    rate: float, burst: float, slice_s: float
) -> None:
    lengths = [*probe_lengths(slice_s)][1:]
    probed = [probe(item, round(1e6 * rate * (item + burst))) for item in lengths]
    for result in excesses(slice_s, probed):
        assert result.mean == pytest.approx(burst / (slice_s + burst), abs=1e-3)


@given(st.lists(st.integers(1, 10_000), min_size=2, max_size=10))
def test_i9_adds_nothing_to_equal_rates_and_no_interval_excludes_it(counts: list[int]) -> None:
    slices = [
        ProbedSlice(slice_s=0.1 * times, seconds=0.1, responses=count)
        for count in counts
        for times in (0.25, 1, 4)
    ]
    for result in excesses(0.1, slices):
        assert result.least == result.mean == result.most == 0
