"""What the report says of answers under load: for each case, over its trials."""

from benchforge_reporters.text.stages import under_load
from made.observed import monitor, trial


def test_what_all_trials_of_a_case_prove() -> None:
    quiet = [trial(monitor=monitor(moments=97, longest_s=0.02)) for _ in range(5)]
    (says,) = under_load([*quiet, trial(monitor=None)])
    assert says == (
        "at 0 of 485 random moments an answer was wrong: at most 0.616 % of the answers were wrong "
        "(95 %); the first answer on a new connection took 1 ms (median), at most 20 ms"
    )
    (says,) = under_load([*quiet, trial(monitor=monitor(wrong=3))])
    assert says.startswith("at 3 of 582 random moments an answer was wrong; the first answer")
    assert not list(under_load([trial(monitor=None), trial(monitor=monitor(moments=0))]))
