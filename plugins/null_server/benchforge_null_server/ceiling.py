"""What each load tool can do at most: the same load once against the null server.

It is measured once the first trial of a load has told how long an answer is, between two trials:
with answers of another length it would be the ceiling of another load.
"""

from collections.abc import Callable, Mapping, Sequence

from benchforge import door
from benchforge.checks.load_tool.ceiling import answered, fits
from benchforge.graph import START_AND_STOP_S, Measurement, RunGraph
from benchforge.model.files.ceiling import Ceiling
from benchforge.model.files.folder import CEILING
from benchforge.model.files.result import Header
from benchforge.model.trial.answers.answer import Expect
from benchforge.model.trial.trial import Trial
from benchforge.model.values.case_name import CaseName
from benchforge.run.execute import RunInputs
from benchforge.run.trial.measure import TrialInputs, measure
from benchforge.suite.cases.case import Case
from benchforge_null_server.load import LOAD_S, load_of
from benchforge_null_server.process import LABEL, NullServer, processes_for

COSTS_S = LOAD_S + START_AND_STOP_S
SHARE = 0.05
"Of what is declared for the trials of a load: all its ceilings take less."


def ceilings(
    graph: RunGraph, header: Header, inputs: RunInputs
) -> Callable[[Trial, Sequence[Ceiling], float], Ceiling | None]:
    """Return a function that measures the ceiling of a trial's load, where that is `wanted`.

    It takes the ceilings that are there, and the seconds that are left. Raises CannotKeep as
    `measured` does.
    """
    worth_s = {} if header.smoke else declared(graph)

    def after(trial: Trial, there: Sequence[Ceiling], spare_s: float) -> Ceiling | None:
        if not wanted(trial, there, worth_s, spare_s):
            return None
        return measured(trial, graph.cases[header.cases.index(trial.case)], there, inputs)

    return after


def declared(graph: RunGraph) -> dict[str, float]:
    """Return what the suite declares for all trials of each load, in seconds, by its digest."""
    by_digest: dict[str, float] = {}
    for case, blocks in graph.often():
        if case.find is None and (digest := case.driven):
            by_digest[digest] = by_digest.get(digest, 0.0) + case.declared_s * min(
                blocks, graph.least
            )
    return by_digest


def wanted(
    trial: Trial, there: Sequence[Ceiling], declared_s: Mapping[str, float], spare_s: float
) -> bool:
    """Whether a trial's load has no ceiling yet, and is worth one in `spare_s` seconds."""
    reading = trial.reading
    if trial.hosts:  # the load tool is elsewhere
        return False
    if not trial.measured or not trial.driver_digest or reading is None or reading.process_s:
        return False
    own = [one for one in there if one.trial.driver_digest == trial.driver_digest]
    if any(fits(trial, one) or one.per_second is None for one in own):
        return False
    worth_s = SHARE * declared_s.get(trial.driver_digest, 0.0)
    return COSTS_S * (len(own) + 1) < worth_s and spare_s > COSTS_S


def measured(trial: Trial, case: Case, there: Sequence[Ceiling], inputs: RunInputs) -> Ceiling:
    """Measure the ceiling of a trial's load, and keep it. Raises CannotKeep where that fails."""
    keep = inputs.keep
    keep.room()
    number = max((ceiling.number for ceiling in there), default=0) + 1
    folder = keep.ceiling_folder(number)
    null = NullServer(
        body_bytes=answered(trial), processes=processes_for(case.driver.load().processes)
    )
    step = Measurement(block=1, position=1, case=against(case, null), seed=0)
    ceiling_trial = measure(TrialInputs(step, folder, number, spare_s=LOAD_S), inputs.context).trial
    ceiling_trial = ceiling_trial.model_copy(
        update={
            "driver_digest": trial.driver_digest,
            "checks": (*ceiling_trial.checks, *inputs.believe(ceiling_trial)),
            "files": tuple(door.files(folder)),
        }
    )
    ceiling = Ceiling(
        number=number, body_bytes=null.body_bytes, processes=null.processes, trial=ceiling_trial
    )
    keep.write(folder / CEILING, ceiling)
    keep.opened(folder)
    return ceiling


def against(case: Case, null: NullServer) -> Case:
    """Return a case's load against the null server: what is asked, and how, stays as it is."""
    return Case(
        name=CaseName(
            scenario=case.name.scenario,
            server=LABEL,
            driver=case.name.driver,
            vary=case.name.vary,
            digest=case.name.digest,
        ),
        server=null,
        backends=(),
        driver=load_of(case.driver),
        request=case.request,
        expect=Expect(),
        metrics=(),
        warm_up_s=0.0,
        tuning=case.tuning,
    )
