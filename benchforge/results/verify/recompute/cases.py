"""The cases again, from the suite's text: names, requests, drivers, streams."""

from benchforge.errors import BenchforgeError
from benchforge.model.files.file import Parsed
from benchforge.model.trial.trial import Trial
from benchforge.results.recomputed.verified import Recomputed, Values, plain
from benchforge.results.verify.recompute.commands import words
from benchforge.results.verify.recompute.recomputed import KeptTrial, Result
from benchforge.suite.cases.case import Case, as_text
from benchforge.suite.cases.expand import expand
from benchforge.suite.load import of_result
from benchforge.suite.mix.record import amount
from benchforge.suite.mix.stream import Mix
from benchforge.text.safe import HIDDEN

_Digests = dict[tuple[str, int, int], tuple[str, tuple[int, ...]]]
"Digest and counts of a stream, by scenario, block and number of records."


def cases(result: Result) -> Values:
    """Each case of the header, and the request and the driver of each trial."""
    header = result.header.model
    if header.code_digests is None:
        reason = f"benchforge {header.benchforge} did not write which code and data the parts had"
        yield result.again("cases", cannot=reason)
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
                yield result.again("cases", number, value=plain(case.name))
    except BenchforgeError as error:
        yield result.again("cases", cannot=error.message.splitlines()[0])
        return
    for trial in result.trials:
        measured = by_name.get(trial.model.case.model_dump_json())
        if measured is not None and not has_secret(measured):
            if measured.workload is not None and not measured.workload.whole:
                continue  # its requests are made of a file that the result does not hold
            yield Recomputed(trial, ("request",), plain(measured.request))
            driver = result.driver(KeptTrial(trial, trial.model))
            yield Recomputed(trial, ("driver_digest",), measured._replace(driver=driver).driven)
            yield from words(trial, measured, driver)


def has_secret(case: Case) -> bool:
    """Whether a secret is part of a case: without it nothing of the case can be computed again."""
    texts = [as_text(part) for part in (*case.parts, case.request, case.expect)]
    return any(HIDDEN in text for text in (*texts, case.workload.text if case.workload else ""))


def streams(result: Result) -> Values:
    """The requests of each mix, and how many there were of each kind."""
    mixed = [trial for trial in result.trials if trial.model.stream is not None]
    if not mixed:
        return
    try:
        workloads = of_result(result.header.model, result.registry).workloads
    except BenchforgeError as error:
        yield Recomputed(mixed[0], ("stream",), cannot=error.message.splitlines()[0])
        return
    made: _Digests = {}
    for trial in mixed:
        workload = workloads.get(trial.model.case.scenario)
        if workload is None:
            yield trial.fault("its scenario has no kinds", "stream")
        elif not workload.whole:
            reason = "its requests are made of a file that the result does not hold"
            yield Recomputed(trial, ("stream", "sha256"), cannot=reason)
        else:
            yield from _stream(result, trial, workload, made)


def _stream(result: Result, trial: Parsed[Trial], workload: Mix, made: _Digests) -> Values:
    stream, block = trial.model.stream, trial.model.block
    assert stream is not None  # noqa: S101 - of a mix
    records = amount(result.driver(KeptTrial(trial, trial.model)))
    key = trial.model.case.scenario, block, records
    if key not in made:
        made[key] = workload.digest(result.header.model.seed, block, records)
    sha256, counts = made[key]
    yield Recomputed(trial, ("stream", "records"), records)
    yield Recomputed(trial, ("stream", "sha256"), sha256)
    if list(stream.kinds) != list(workload.shares):
        message = f"the suite has the kinds {', '.join(workload.shares)}"
        yield trial.fault(message, "stream", "kinds")
        return
    for (label, share), count in zip(workload.shares.items(), counts, strict=True):
        path = "stream", "kinds", label
        yield Recomputed(trial, (*path, "share"), share)
        yield Recomputed(trial, (*path, "records"), count)
        yield Recomputed(trial, (*path, "request"), plain(workload.first[label][0]))
