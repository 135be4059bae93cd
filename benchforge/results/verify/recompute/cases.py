"""The cases again, from the suite's text: their names, what they are, and what trials did of it."""

from collections.abc import Iterator

from benchforge.errors import BenchforgeError
from benchforge.model.files.file import FileFault
from benchforge.results.recomputed.verified import RecomputedValue, plain
from benchforge.results.verify.recompute.commands import words
from benchforge.results.verify.recompute.recomputed import KeptTrial, Result
from benchforge.suite.cases.case import Case, as_text
from benchforge.suite.cases.expand import expand
from benchforge.suite.load import of_result
from benchforge.text.safe import HIDDEN


def cases(result: Result) -> Iterator[RecomputedValue | FileFault]:
    """Each case of the header, and the request and the driver of each trial."""
    header = result.header.model
    if header.code_digests is None:
        reason = f"benchforge {header.benchforge} did not write which code and data the parts had"
        yield RecomputedValue(result.header, ("cases",), cannot=reason)
        return
    try:
        cases_again = expand(of_result(header, result.registry))
        if len(cases_again) != len(header.cases):
            message = f"{len(header.cases)} cases, but the suite has {len(cases_again)}"
            yield result.header.fault(message, "cases")
            return
        by_name: dict[str, Case] = {}
        for number, case in enumerate(cases_again):
            by_name[case.name.model_dump_json()] = case
            if not has_secret(case):
                yield RecomputedValue(result.header, ("cases", number), plain(case.name))
    except BenchforgeError as error:
        reason = error.message.splitlines()[0]
        yield RecomputedValue(result.header, ("cases",), cannot=reason)
        return
    for trial in result.trials:
        measured = by_name.get(trial.model.case.model_dump_json())
        if measured is not None and not has_secret(measured):
            if measured.workload is not None and not measured.workload.whole:
                continue  # its requests are made of a file that the result does not hold
            yield RecomputedValue(trial, ("request",), plain(measured.request))
            driver = result.driver(KeptTrial(trial, trial.model))
            yield RecomputedValue(
                trial, ("driver_digest",), measured._replace(driver=driver).driven
            )
            yield from words(trial, measured, driver)


def has_secret(case: Case) -> bool:
    """Whether a secret is part of a case: without it nothing of the case can be computed again."""
    texts = [as_text(part) for part in (*case.parts, case.request, case.expect)]
    return any(HIDDEN in text for text in (*texts, case.workload.text if case.workload else ""))
