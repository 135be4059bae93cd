"""Models that share the sets of their fields: nothing that is seen of them changes."""

from made import plain

from benchforge.model.trial.trial import Trial
from benchforge.model.values.frozen import compact


def test_models_of_the_same_fields_have_one_set() -> None:
    text = plain.trial(number=7).model_dump_json()
    loose, *trials = (Trial.model_validate_json(text) for _ in range(3))
    for trial in trials:
        compact(trial)
    first, second = trials
    assert first.model_fields_set is second.model_fields_set
    assert first.case.model_fields_set is second.case.model_fields_set
    assert first == loose
    assert first.model_fields_set == loose.model_fields_set
    assert first.model_dump_json() == text


def test_a_copy_has_a_set_of_its_own() -> None:
    trial = Trial.model_validate(plain.trial().model_dump(exclude={"url"}))
    compact(trial)
    copy = trial.model_copy(update={"url": "http://127.0.0.1/"})
    assert copy.model_fields_set == trial.model_fields_set | {"url"}
    assert "url" not in trial.model_fields_set
