"""What each load tool can do at most: the same load once against the null server.

It is measured once the first trial of a load has told how long an answer is, between two trials:
with answers of another length it would be the ceiling of another load.
"""

from collections.abc import Mapping, Sequence

from benchforge.checks.ceiling import answered, fits
from benchforge.graph import START_AND_STOP_S, Measure, RunGraph
from benchforge.model.answer import Expect
from benchforge.model.ceiling import Ceiling
from benchforge.model.folder import CEILING
from benchforge.model.trial import CaseName, Trial
from benchforge.model.units import Rate
from benchforge.parts.part import Driver
from benchforge.run.execute import Believe
from benchforge.run.ground import Ground
from benchforge.run.keep import Keep
from benchforge.run.measure import measure
from benchforge.run.null import LABEL, NullServer, processes_for
from benchforge.suite.case import Case

LOAD_S = 2.0
COSTS_S = LOAD_S + START_AND_STOP_S
SHARE = 0.05
"Of what is declared for the trials of a load: all its ceilings take less."


def declared(graph: RunGraph) -> dict[str, float]:
    """Return what the suite declares for all trials of each load, in seconds, by its digest."""
    found: dict[str, float] = {}
    for case, blocks in graph.often():
        if case.find is None and (digest := case.driven):
            found[digest] = found.get(digest, 0.0) + case.declared_s * min(blocks, graph.least)
    return found


def wanted(
    trial: Trial, there: Sequence[Ceiling], declared_s: Mapping[str, float], spare_s: float
) -> bool:
    """Whether a trial's load has no ceiling yet, and is worth one in `spare_s` seconds."""
    reading = trial.reading
    if not trial.measured or not trial.driven or reading is None or reading.process_s:
        return False
    own = [one for one in there if one.trial.driven == trial.driven]
    if any(fits(trial, one) or one.per_second is None for one in own):
        return False
    worth_s = SHARE * declared_s.get(trial.driven, 0.0)
    return COSTS_S * (len(own) + 1) < worth_s and spare_s > COSTS_S


def measured(
    trial: Trial,
    case: Case,
    there: Sequence[Ceiling],
    ground: Ground,
    keep: Keep,
    believe: Believe,
) -> Ceiling:
    """Measure the ceiling of a trial's load, and keep it. Raises CannotKeep where that fails."""
    keep.room()
    number = max((one.number for one in there), default=0) + 1
    folder = keep.ceiling_folder(number)
    null = NullServer(
        body_bytes=answered(trial), processes=processes_for(case.driver.load().processes)
    )
    step = Measure(block=1, position=1, case=against(case, null), seed=0)
    found = measure(step, number, 1, ground, folder, None, lambda _: None, LOAD_S).trial
    found = found.model_copy(
        update={"driven": trial.driven, "checks": (*found.checks, *believe(found))}
    )
    ceiling = Ceiling(
        number=number, body_bytes=null.body_bytes, processes=null.processes, trial=found
    )
    keep.write(folder / CEILING, ceiling)
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


def load_of(driver: Driver) -> Driver:
    """Return a driver for a ceiling: brief, and at twice its rate, where it has one.

    At the same rate it would tell nothing.
    """
    rate = getattr(driver, "rate", None)
    twice = driver if rate is None else driver.model_copy(update={"rate": Rate(2 * rate)})
    return twice.for_warm_up(LOAD_S)
